// IP addresses and prefixes.
#include "cel/functions.h"
#include "cel/library/libraries.h"
#include "cel/net.h"

namespace allot::cel {
namespace {

Value IpValue(Context& context, const IpRep& ip) {
  IpRep* const copy = context.arena().New<IpRep>();
  *copy = ip;
  Value out;
  out.kind = ValueKind::kIp;
  out.ip = copy;
  return out;
}

Value CidrValue(Context& context, const CidrRep& cidr) {
  CidrRep* const copy = context.arena().New<CidrRep>();
  *copy = cidr;
  Value out;
  out.kind = ValueKind::kCidr;
  out.cidr = copy;
  return out;
}

Value MakeIp(Context& context, Args args) {
  const auto ip = ParseIp(args[0].text());
  return ip ? IpValue(context, *ip) : context.Error(ip.error().message());
}
Value MakeCidr(Context& context, Args args) {
  const auto cidr = ParseCidr(args[0].text());
  return cidr ? CidrValue(context, *cidr)
              : context.Error("network address parse error during conversion from string: " +
                              cidr.error().message());
}
Value IsIp(Context& /*context*/, Args args) {
  return Value::Bool(ParseIp(args[0].text()).has_value());
}
Value IsCidr(Context& /*context*/, Args args) {
  return Value::Bool(ParseCidr(args[0].text()).has_value());
}
Value IsCanonical(Context& context, Args args) {
  const auto ip = ParseIp(args[0].text());
  return ip ? Value::Bool(IpText(*ip) == args[0].text()) : context.Error(ip.error().message());
}
Value Family(Context& /*context*/, Args args) {
  return Value::Int(args[0].ip->v6 ? 6 : 4);
}

template <bool (*Test)(const IpRep&)>
Value IpTest(Context& /*context*/, Args args) {
  return Value::Bool(Test(*args[0].ip));
}

Value IpString(Context& context, Args args) {
  return context.String(IpText(*args[0].ip));
}
Value CidrString(Context& context, Args args) {
  return context.String(CidrText(*args[0].cidr));
}

Value ContainsIpString(Context& /*context*/, Args args) {
  const auto ip = ParseIp(args[1].text());
  return ip ? Value::Bool(Contains(*args[0].cidr, *ip)) : NoSuchOverload();
}
Value ContainsIp(Context& /*context*/, Args args) {
  return Value::Bool(Contains(*args[0].cidr, *args[1].ip));
}
Value ContainsCidrString(Context& context, Args args) {
  const Value inner = MakeCidr(context, args.subspan(1));
  return inner.IsError() ? inner : Value::Bool(ContainsCidr(*args[0].cidr, *inner.cidr));
}
Value ContainsCidrCidr(Context& /*context*/, Args args) {
  return Value::Bool(ContainsCidr(*args[0].cidr, *args[1].cidr));
}
Value CidrIp(Context& context, Args args) {
  return IpValue(context, args[0].cidr->address);
}
Value PrefixLength(Context& /*context*/, Args args) {
  return Value::Int(args[0].cidr->bits);
}
Value MaskedCidr(Context& context, Args args) {
  return CidrValue(context, Masked(*args[0].cidr));
}

}  // namespace

void RegisterNetwork(Registry& registry) {
  using namespace types;
  Declare d(registry, kLibNetwork);
  d.Global("ip", "string_to_ip", {&kString}, &kIp, MakeIp);
  d.Member("family", "ip_family", {&kIp}, &kInt, Family);
  d.Global("ip.isCanonical", "ip_is_canonical", {&kString}, &kBool, IsCanonical);
  d.Member("isUnspecified", "ip_is_unspecified", {&kIp}, &kBool, IpTest<IsUnspecified>);
  d.Member("isLoopback", "ip_is_loopback", {&kIp}, &kBool, IpTest<IsLoopback>);
  d.Member("isLinkLocalMulticast",
           "ip_is_link_local_multicast",
           {&kIp},
           &kBool,
           IpTest<IsLinkLocalMulticast>);
  d.Member(
      "isLinkLocalUnicast", "ip_is_link_local_unicast", {&kIp}, &kBool, IpTest<IsLinkLocalUnicast>);
  d.Member("isGlobalUnicast", "ip_is_global_unicast", {&kIp}, &kBool, IpTest<IsGlobalUnicast>);
  d.Global("isIP", "is_ip", {&kString}, &kBool, IsIp);
  d.Global("string", "ip_to_string", {&kIp}, &kString, IpString);
  d.Global("cidr", "string_to_cidr", {&kString}, &kCidr, MakeCidr);
  d.Member("containsIP", "cidr_contains_ip_string", {&kCidr, &kString}, &kBool, ContainsIpString);
  d.Member("containsIP", "cidr_contains_ip_ip", {&kCidr, &kIp}, &kBool, ContainsIp);
  d.Member(
      "containsCIDR", "cidr_contains_cidr_string", {&kCidr, &kString}, &kBool, ContainsCidrString);
  d.Member("containsCIDR", "cidr_contains_cidr", {&kCidr, &kCidr}, &kBool, ContainsCidrCidr);
  d.Member("ip", "cidr_ip", {&kCidr}, &kIp, CidrIp);
  d.Member("prefixLength", "cidr_prefix_length", {&kCidr}, &kInt, PrefixLength);
  d.Member("masked", "cidr_masked", {&kCidr}, &kCidr, MaskedCidr);
  d.Global("isCIDR", "is_cidr", {&kString}, &kBool, IsCidr);
  d.Global("string", "cidr_to_string", {&kCidr}, &kString, CidrString);
  for (const std::string_view name : {"masked",
                                      "prefixLength",
                                      "family",
                                      "isUnspecified",
                                      "isLoopback",
                                      "isLinkLocalMulticast",
                                      "isLinkLocalUnicast",
                                      "isGlobalUnicast"}) {
    d.Cost(name, NamedCost::kOne);
  }
  for (const std::string_view name : {"cidr", "isIP", "isCIDR"}) {
    d.Cost(name, NamedCost::kScanFirst);
  }
  d.Cost("ip", NamedCost::kIp);
  d.Cost("ip.isCanonical", NamedCost::kScanFirstTwice);
  d.Cost("containsIP", NamedCost::kContainsIp);
  d.Cost("containsCIDR", NamedCost::kContainsCidr);
}

}  // namespace allot::cel
