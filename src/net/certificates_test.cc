#include "net/certificates.h"

#include <string>

#include <gmock/gmock.h>

#include "net/tls.h"

namespace allot::net {
namespace {

using std::chrono::hours;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

const base::WallTime kNow{std::chrono::seconds(1'790'000'000)};

TEST(CertificatesTest, ChainOfCaServerAndClient) {
  const auto ca = CreateCa("allot-ca", kNow);
  ASSERT_TRUE(ca) << ca.error().ToString();
  const auto info = ReadCertificate(ca->certificate_pem);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->common_name, "allot-ca");
  EXPECT_TRUE(info->is_ca);
  EXPECT_EQ(info->not_before, kNow - hours(1));
  EXPECT_EQ(info->not_after, kNow + kCertificateLifetime);
  EXPECT_TRUE(CheckKeyPair(*ca, ca->certificate_pem, kNow));

  const auto server = CreateServerCertificate(*ca, ApiServerNames("10.1.2.3"), kNow);
  ASSERT_TRUE(server) << server.error().ToString();
  const auto names = ReadCertificate(server->certificate_pem)->names;
  EXPECT_THAT(names, Contains("localhost"));
  EXPECT_THAT(names, Contains("127.0.0.1"));
  EXPECT_THAT(names, Contains("::1"));
  EXPECT_THAT(names, Contains("10.1.2.3"));
  EXPECT_THAT(names, Contains("kubernetes.default.svc"));
  EXPECT_TRUE(CheckKeyPair(*server, ca->certificate_pem, kNow));

  const auto client = CreateClientCertificate(*ca, "jane", {"system:masters", "dev"}, kNow);
  ASSERT_TRUE(client) << client.error().ToString();
  const auto subject = ReadCertificate(client->certificate_pem);
  EXPECT_EQ(subject->common_name, "jane");
  EXPECT_THAT(subject->organizations, ElementsAre("system:masters", "dev"));
  EXPECT_EQ(subject->issuer, "allot-ca");
  EXPECT_FALSE(subject->is_ca);
  EXPECT_EQ(subject->sha256_fingerprint.size(), 95U);
}

TEST(CertificatesTest, ErrorsNameTheCause) {
  const auto ca = CreateCa("a", kNow);
  const auto other = CreateCa("b", kNow);
  const auto client = CreateClientCertificate(*ca, "jane", {}, kNow, hours(1));
  const auto message = [](const base::Result<void>& result) {
    return result ? std::string("fine") : result.error().message();
  };
  EXPECT_EQ(message(CheckKeyPair({client->certificate_pem, other->key_pem}, "", kNow)),
            "certificate and key do not belong together");
  EXPECT_EQ(message(CheckKeyPair({"rubbish", client->key_pem}, "", kNow)),
            "no certificate in PEM form");
  EXPECT_EQ(message(CheckKeyPair({client->certificate_pem, ""}, "", kNow)),
            "no unencrypted private key in PEM form");
  EXPECT_EQ(message(CheckKeyPair(*client, ca->certificate_pem, kNow + hours(2))),
            "certificate has expired");
  EXPECT_NE(message(CheckKeyPair(*client, other->certificate_pem, kNow)), "fine");
  EXPECT_FALSE(CreateClientCertificate(*client, "x", {}, kNow));
  EXPECT_FALSE(CreateClientCertificate({ca->certificate_pem, other->key_pem}, "x", {}, kNow));
  EXPECT_FALSE(CreateClientCertificate(*ca, std::string(100, 'x'), {}, kNow));
  EXPECT_FALSE(CreateServerCertificate(*ca, {}, kNow));
  EXPECT_FALSE(CreateServerCertificate(*ca, {"a,DNS:b"}, kNow));
  EXPECT_FALSE(ReadCertificate(""));
}

TEST(CertificatesTest, TlsContextNamesTheBrokenPart) {
  const auto ca = CreateCa("a", kNow);
  const auto server = CreateServerCertificate(*ca, {"localhost"}, kNow);
  TlsServerConfig config{.certificate_pem = server->certificate_pem,
                         .key_pem = server->key_pem,
                         .client_ca_pem = ca->certificate_pem,
                         .alpn = {"h2"}};
  EXPECT_TRUE(TlsContext::Server(config));
  config.client_ca_pem = "rubbish";
  EXPECT_THAT(TlsContext::Server(config).error().message(), HasSubstr("CA"));
  config.key_pem = ca->key_pem;
  EXPECT_THAT(TlsContext::Server(config).error().message(), HasSubstr("belong together"));
  config.key_pem = "";
  EXPECT_THAT(TlsContext::Server(config).error().message(), HasSubstr("key"));
  config.certificate_pem = "";
  EXPECT_THAT(TlsContext::Server(config).error().message(), HasSubstr("certificate"));
}

TEST(CertificatesTest, Es256) {
  const auto key = CreateSigningKey();
  ASSERT_TRUE(key);
  const auto signature = SignEs256(key->private_pem, "text");
  ASSERT_TRUE(signature) << signature.error().ToString();
  EXPECT_EQ(signature->size(), 64U);
  EXPECT_TRUE(VerifyEs256(key->public_pem, "text", *signature));
  EXPECT_FALSE(VerifyEs256(key->public_pem, "other", *signature));
  EXPECT_FALSE(VerifyEs256(key->public_pem, "text", std::string(64, 'x')));
  EXPECT_FALSE(VerifyEs256(key->public_pem, "text", "short"));
  EXPECT_FALSE(VerifyEs256("rubbish", "text", *signature));
  EXPECT_FALSE(SignEs256("rubbish", "text"));
}

TEST(CertificatesTest, Sha256) {
  EXPECT_EQ(Sha256("abc").substr(0, 4), "\xba\x78\x16\xbf");
}

}  // namespace
}  // namespace allot::net
