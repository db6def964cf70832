// A lean load client for any Kubernetes API server, on this project's own net: the same requests as
// a Go client would send (template-claim pods created over many connections, a watch until all are
// bound), at a small part of its CPU, so that the server's own cost can be seen.
//
//   lean_client --kubeconfig K --shape template --nodes 500 --devices 8 --pods 1000 --pids 123
//   lean_client --kubeconfig K --api creates|writes|gets --clients 64 --n 5000
//
// One JSON line a figure.  --pids names server processes: their CPU time (by thread too) and memory
// are reported.  Bodies are protobuf and made before the clock starts.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include "api/core/v1.gen.h"
#include "api/resource/v1.gen.h"
#include "base/clock.h"
#include "client/connection_options.h"
#include "client/resources.h"
#include "client/wire.h"
#include "net/http_client.h"
#include "net/loop.h"

namespace allot {
namespace {

using base::MonoTime;

constexpr std::string_view kClaims = "/apis/resource.k8s.io/v1/namespaces/bench/resourceclaims";
constexpr std::string_view kPods = "/api/v1/namespaces/bench/pods";

struct Flags {
  std::string kubeconfig;
  std::string label;
  std::string shape;
  std::string api;
  std::string selector;
  std::string pids;
  int nodes = 500;
  int devices = 8;
  int pods = 1000;
  int clients = 32;
  int n = 5000;
  int timeout = 600;
  bool keep = false;
};

[[noreturn]] void Fail(const std::string& text) {
  fmt::print(stderr, "lean_client: {}\n", text);
  std::exit(1);
}

MonoTime Now() {
  return base::SystemClock().Monotonic();
}

double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

struct Usage {
  double cpu = 0;
  double rss_mib = 0;
  std::map<std::string, double> threads;  // CPU seconds by thread name
};

/// Name and CPU seconds of a /proc/.../stat file, and resident pages.
bool ReadStat(const std::string& path, std::string& name, double& cpu, double& pages) {
  std::ifstream file(path);
  std::string text;
  if (!std::getline(file, text)) {
    return false;
  }
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  name = text.substr(open + 1, close - open - 1);
  std::istringstream rest(text.substr(close + 2));
  std::vector<std::string> fields;
  for (std::string field; rest >> field;) {
    fields.push_back(field);
  }
  cpu = (std::strtod(fields[11].c_str(), nullptr) + std::strtod(fields[12].c_str(), nullptr)) /
        static_cast<double>(::sysconf(_SC_CLK_TCK));
  pages = std::strtod(fields[21].c_str(), nullptr);
  return true;
}

Usage ServerUsage(const std::string& pids) {
  Usage usage;
  std::istringstream list(pids);
  for (std::string pid; std::getline(list, pid, ',');) {
    std::string name;
    double cpu = 0;
    double pages = 0;
    if (!ReadStat("/proc/" + pid + "/stat", name, cpu, pages)) {
      continue;
    }
    usage.cpu += cpu;
    usage.rss_mib += pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
    std::error_code error;
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + pid + "/task", error)) {
      if (ReadStat(task.path().string() + "/stat", name, cpu, pages)) {
        usage.threads[name] += cpu;
      }
    }
  }
  return usage;
}

double Quantile(std::vector<double> values, double p) {
  if (values.empty()) {
    return 0;
  }
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(p * static_cast<double>(values.size() - 1))];
}

/// A JSON text as the protobuf body a client of `type` would send.
net::Bytes Protobuf(const schema::TypeDesc& type, const std::string& json) {
  const auto item = client::DecodeItem(type, json, client::Format::kJson);
  if (!item) {
    Fail(item.error().ToString());
  }
  return net::Bytes(client::EncodeBody(type, item->view.get(), 0, client::Format::kProtobuf));
}

struct Job {
  std::string method = "POST";
  std::string target;
  net::Bytes body;
  std::string content_type = std::string(client::kProtobufType);
};

/// The connections: one client each, all on one loop thread.
class Fleet {
 public:
  Fleet(const Flags& flags, const client::ClientConfig& config) : thread_("lean-client") {
    for (int i = 0; i < flags.clients + 1; ++i) {
      net::HttpClientOptions options = client::ConnectionOptions(config, "lean_client");
      options.max_connections = 1;
      auto made = net::HttpClient::Create(thread_.loop(), std::move(options));
      if (!made) {
        Fail(made.error().ToString());
      }
      clients_.push_back(std::move(*made));
    }
  }

  /// Sends all jobs, each connection one after the other; returns when each was answered, from
  /// `start` on. 409 is fine when `exists_is_fine`.
  std::vector<MonoTime> Run(const std::vector<Job>& jobs, bool exists_is_fine) {
    std::vector<MonoTime> ended(jobs.size());
    std::promise<void> done;
    std::size_t next = 0;
    std::size_t left = jobs.size();
    std::function<void(net::HttpClient&)> go = [&](net::HttpClient& connection) {
      if (next == jobs.size()) {
        return;
      }
      const std::size_t index = next++;
      net::ClientRequest request;
      request.method = jobs[index].method;
      request.target = jobs[index].target;
      request.body = jobs[index].body;
      request.headers.Add("accept", "application/vnd.kubernetes.protobuf,application/json");
      if (!request.body.empty()) {
        request.headers.Add("content-type", jobs[index].content_type);
      }
      net::ClientCallbacks callbacks;
      const auto status = std::make_shared<std::pair<int, std::string>>();
      callbacks.on_headers = [status](int code, const net::HeaderList&) {
        status->first = code;
      };
      callbacks.on_data = [status](std::string_view data) {
        if (status->first >= 400) {
          status->second += data;
        }
      };
      callbacks.on_end = [&, index, status](base::Result<void> outcome) {
        if (!outcome) {
          Fail(outcome.error().ToString());
        }
        if (status->first >= 400 && !(exists_is_fine && status->first == 409)) {
          Fail(jobs[index].method + " " + jobs[index].target + ": " +
               client::DecodeStatus(status->first, status->second).ToString());
        }
        ended[index] = Now();
        if (--left == 0) {
          done.set_value();
          return;
        }
        go(connection);
      };
      connection.Do(std::move(request), std::move(callbacks));
    };
    if (jobs.empty()) {
      return ended;
    }
    thread_.loop().Post([&] {
      for (std::size_t i = 1; i < clients_.size(); ++i) {
        go(*clients_[i]);
      }
    });
    done.get_future().wait();
    return ended;
  }

  /// The connection kept for watches and single calls.
  net::HttpClient& front() { return *clients_.front(); }
  std::chrono::nanoseconds CpuTime() {
    std::promise<std::chrono::nanoseconds> time;
    thread_.loop().Post([&] { time.set_value(base::ThreadCpuTime()); });
    return time.get_future().get();
  }

 private:
  net::LoopThread thread_;
  std::vector<std::unique_ptr<net::HttpClient>> clients_;
};

/// The value of the first length-delimited field `number` of a protobuf message; "" when there is
/// none.
std::string_view Field(std::string_view message, unsigned number) {
  const auto varint = [&message] {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !message.empty() && shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(message.front());
      message.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) {
        break;
      }
    }
    return value;
  };
  while (!message.empty()) {
    const std::uint64_t tag = varint();
    if ((tag & 7U) == 0) {
      varint();
      continue;
    }
    const std::size_t size = std::min<std::size_t>((tag & 7U) == 2   ? varint()
                                                   : (tag & 7U) == 1 ? 8
                                                                     : 4,
                                                   message.size());
    if ((tag & 7U) == 2 && tag >> 3U == number) {
      return message.substr(0, size);
    }
    message.remove_prefix(size);
  }
  return {};
}

/// Counts bound pods as the events of a protobuf watch come in.
class BoundWatch {
 public:
  explicit BoundWatch(int pods) : bound_(static_cast<std::size_t>(pods)), left_(pods) {}

  void OnData(std::string_view data) {
    const std::lock_guard lock(mutex_);
    rest_.append(data);
    std::string_view in = rest_;
    while (in.size() >= 4) {
      std::size_t size = 0;
      for (std::size_t i = 0; i < 4; ++i) {
        size = size << 8U | static_cast<unsigned char>(in[i]);
      }
      if (in.size() - 4 < size) {
        break;
      }
      OnEvent(in.substr(4, size));
      in.remove_prefix(4 + size);
    }
    rest_.erase(0, rest_.size() - in.size());
  }
  void OnEnd(const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (left_ > 0 && !stopped_) {
      Fail("the watch ended: " + why);
    }
  }
  bool Wait(std::chrono::nanoseconds timeout) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [this] { return left_ == 0; });
    stopped_ = true;
    return left_ == 0;
  }
  [[nodiscard]] const std::vector<MonoTime>& bound() const { return bound_; }

 private:
  void OnEvent(std::string_view event) {
    // WatchEvent.object.raw = "k8s\0" + Unknown; Unknown.raw = Pod; metadata.name, spec.nodeName.
    std::string_view object = Field(Field(event, 2), 1);
    if (object.size() < 4) {
      return;
    }
    const std::string_view pod = Field(object.substr(4), 2);
    const std::string_view name = Field(Field(pod, 1), 1);
    std::size_t index = 0;
    if (Field(Field(pod, 2), 10).empty() || name.substr(0, 2) != "p-") {
      return;
    }
    std::from_chars(name.data() + 2, name.data() + name.size(), index);
    if (index < bound_.size() && bound_[index] == MonoTime{}) {
      bound_[index] = Now();
      if (--left_ == 0) {
        changed_.notify_all();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string rest_;
  std::vector<MonoTime> bound_;
  int left_;
  bool stopped_ = false;
};

std::string Call(Fleet& fleet,
                 const std::string& method,
                 const std::string& target,
                 const std::string& json_body = "") {
  net::ClientRequest request;
  request.method = method;
  request.target = target;
  request.headers.Add("accept", "application/json");
  if (!json_body.empty()) {
    request.headers.Add("content-type", "application/json");
    request.body = net::Bytes::Copy(json_body);
  }
  auto response = fleet.front().FetchBlocking(std::move(request));
  if (!response) {
    Fail(response.error().ToString());
  }
  if (response->status >= 400 && response->status != 409) {
    Fail(method + " " + target + ": " +
         client::DecodeStatus(response->status, response->body).ToString());
  }
  return std::move(response->body);
}

std::string ClaimSpec(const Flags& flags) {
  std::string selectors;
  if (!flags.selector.empty()) {
    std::string escaped;
    for (const char c : flags.selector) {
      escaped += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
    }
    selectors = fmt::format(R"(,"selectors":[{{"cel":{{"expression":"{}"}}}}])", escaped);
  }
  return fmt::format(
      R"({{"devices":{{"requests":[{{"name":"gpu","exactly":{{"deviceClassName":"bench"{}}}}}]}}}})",
      selectors);
}

void MakeFleet(const Flags& flags, Fleet& fleet) {
  Call(fleet,
       "POST",
       "/apis/resource.k8s.io/v1/deviceclasses",
       R"({"kind":"DeviceClass","apiVersion":"resource.k8s.io/v1","metadata":{"name":"bench"},)"
       R"("spec":{"selectors":[{"cel":{"expression":"device.driver == \"bench.example.com\""}}],)"
       R"("extendedResourceName":"bench.example.com/gpu"}})");
  Call(fleet,
       "POST",
       "/api/v1/namespaces",
       R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"bench"}})");
  std::vector<Job> jobs;
  for (int i = 0; i < flags.nodes; ++i) {
    const std::string name = fmt::format("bench-{:05d}", i);
    constexpr std::string_view kResources =
        R"({"cpu":"64","memory":"512Gi","pods":"250","ephemeral-storage":"1Ti"})";
    jobs.push_back(
        {.target = "/api/v1/nodes",
         .body = Protobuf(
             api::Desc<api::core::Node>(),
             fmt::format(
                 R"({{"metadata":{{"name":"{0}","labels":{{"kubernetes.io/hostname":"{0}"}}}},)"
                 R"("status":{{"capacity":{1},"allocatable":{1},)"
                 R"("conditions":[{{"type":"Ready","status":"True","reason":"Bench"}}]}}}})",
                 name,
                 kResources))});
    std::string devices;
    for (int d = 0; d < flags.devices; ++d) {
      devices += fmt::format(
          R"({}{{"name":"gpu-{}","attributes":{{"model":{{"string":"H100"}},"index":{{"int":{}}},)"
          R"("uuid":{{"string":"GPU-{:05d}-{}"}}}},"capacity":{{"memory":{{"value":"80Gi"}}}}}})",
          d == 0 ? "" : ",",
          d,
          d,
          i,
          d);
    }
    jobs.push_back(
        {.target = "/apis/resource.k8s.io/v1/resourceslices",
         .body = Protobuf(
             api::Desc<api::resource::ResourceSlice>(),
             fmt::format(
                 R"({{"metadata":{{"name":"{0}"}},"spec":{{"driver":"bench.example.com",)"
                 R"("nodeName":"{0}","pool":{{"name":"{0}","generation":1,"resourceSliceCount":1}},)"
                 R"("devices":[{1}]}}}})",
                 name,
                 devices))});
  }
  fleet.Run(jobs, /*exists_is_fine=*/true);
}

std::string PodJson(const Flags& flags, int index) {
  std::string claims;
  std::string requests;
  std::string limits;
  std::string pod_claims;
  if (flags.shape == "template" || flags.shape == "shared") {
    claims = R"(,"claims":[{"name":"gpu"}])";
    pod_claims =
        flags.shape == "template"
            ? R"(,"resourceClaims":[{"name":"gpu","resourceClaimTemplateName":"bench-template"}])"
            : R"(,"resourceClaims":[{"name":"gpu","resourceClaimName":"bench-shared"}])";
  } else if (flags.shape == "extended") {
    requests = R"(,"bench.example.com/gpu":"1")";
    limits = R"(,"limits":{"bench.example.com/gpu":"1"})";
  }
  return fmt::format(
      R"({{"metadata":{{"name":"p-{:06d}"}},"spec":{{"containers":[{{"name":"c","image":"none",)"
      R"("resources":{{"requests":{{"cpu":"100m","memory":"64Mi"{}}}{}{}}}}}]{}}}}})",
      index,
      requests,
      limits,
      claims,
      pod_claims);
}

std::string ThreadReport(const Usage& before, const Usage& after, double per) {
  std::string out;
  for (const auto& [name, cpu] : after.threads) {
    const auto found = before.threads.find(name);
    const double used = cpu - (found == before.threads.end() ? 0 : found->second);
    if (used > 0) {
      out += fmt::format("{}\"{}\":{:.1f}", out.empty() ? "" : ",", name, 1e6 * used / per);
    }
  }
  return out;
}

void CleanUp(Fleet& fleet) {
  Call(fleet, "DELETE", std::string(kPods) + "?gracePeriodSeconds=0");
  for (int i = 0; i < 600; ++i) {
    const std::string pods = Call(fleet, "GET", std::string(kPods) + "?limit=1");
    const std::string claims = Call(fleet, "GET", std::string(kClaims) + "?limit=2");
    if (pods.find("\"p-") == std::string::npos && claims.find("\"p-") == std::string::npos) {
      return;
    }
    ::usleep(200'000);
  }
}

int Schedule(const Flags& flags, Fleet& fleet) {
  const MonoTime fleet_start = Now();
  MakeFleet(flags, fleet);
  const double fleet_seconds = Seconds(Now() - fleet_start);
  Call(
      fleet,
      "POST",
      "/apis/resource.k8s.io/v1/namespaces/bench/resourceclaimtemplates",
      fmt::format(
          R"({{"kind":"ResourceClaimTemplate","apiVersion":"resource.k8s.io/v1","metadata":{{"name":"bench-template"}},"spec":{{"spec":{}}}}})",
          ClaimSpec(flags)));
  if (flags.shape == "shared") {
    Call(
        fleet,
        "POST",
        std::string(kClaims),
        fmt::format(
            R"({{"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","metadata":{{"name":"bench-shared"}},"spec":{}}})",
            ClaimSpec(flags)));
  }
  std::vector<Job> jobs;
  for (int i = 0; i < flags.pods; ++i) {
    jobs.push_back({.target = std::string(kPods),
                    .body = Protobuf(api::Desc<api::core::Pod>(), PodJson(flags, i))});
  }
  const std::string list = Call(fleet, "GET", std::string(kPods));
  if (list.find("\"p-") != std::string::npos) {
    Fail("namespace bench still has pods");
  }
  const auto answer = client::DecodeList(api::Desc<api::core::Pod>(), list, client::Format::kJson);
  if (!answer) {
    Fail(answer.error().ToString());
  }
  const auto watch = std::make_shared<BoundWatch>(flags.pods);
  net::ClientRequest request;
  request.target = fmt::format("{}?watch=true&resourceVersion={}", kPods, answer->revision);
  request.headers.Add("accept", "application/vnd.kubernetes.protobuf;stream=watch");
  net::ClientCallbacks callbacks;
  callbacks.on_headers = [](int status, const net::HeaderList& headers) {
    if (status != 200 ||
        client::FormatOf(headers.Get("content-type")) != client::Format::kProtobuf) {
      Fail(fmt::format("the watch was answered {} {}", status, headers.Get("content-type")));
    }
  };
  callbacks.on_data = [watch](std::string_view data) {
    watch->OnData(data);
  };
  callbacks.on_end = [watch](base::Result<void> outcome) {
    watch->OnEnd(outcome ? "by the server" : outcome.error().ToString());
  };
  const auto call = fleet.front().Do(std::move(request), std::move(callbacks));

  const Usage before = ServerUsage(flags.pids);
  const auto client_before = fleet.CpuTime();
  const MonoTime start = Now();
  const std::vector<MonoTime> created = fleet.Run(jobs, /*exists_is_fine=*/false);
  const double create_seconds = Seconds(Now() - start);
  const bool finished = watch->Wait(std::chrono::seconds(flags.timeout));
  const double elapsed = Seconds(Now() - start);
  const Usage after = ServerUsage(flags.pids);
  const auto client_used = fleet.CpuTime() - client_before;
  fleet.front().Cancel(call);

  std::vector<double> latencies;
  for (std::size_t i = 0; i < created.size(); ++i) {
    if (watch->bound()[i] != MonoTime{}) {
      latencies.push_back(1000 * Seconds(watch->bound()[i] - created[i]));
    }
  }
  const double bound = std::max<double>(1, static_cast<double>(latencies.size()));
  fmt::print(
      R"({{"figure":"schedule/{}","system":"{}","client":"lean","nodes":{},"devices":{},"pods":{},)"
      R"("bound":{},"finished":{},"fleet_s":{:.3f},"create_s":{:.3f},"elapsed_s":{:.3f},)"
      R"("pods_per_s":{:.1f},"latency_ms_p50":{:.2f},"latency_ms_p99":{:.2f},"cpu_s":{:.2f},)"
      R"("cpu_ms_per_pod":{:.4f},"threads_us_per_pod":{{{}}},"client_us_per_pod":{:.1f},)"
      R"("rss_mib":{:.1f}}})"
      "\n",
      flags.shape,
      flags.label,
      flags.nodes,
      flags.nodes * flags.devices,
      flags.pods,
      latencies.size(),
      finished,
      fleet_seconds,
      create_seconds,
      elapsed,
      static_cast<double>(latencies.size()) / elapsed,
      Quantile(latencies, .5),
      Quantile(latencies, .99),
      after.cpu - before.cpu,
      1000 * (after.cpu - before.cpu) / bound,
      ThreadReport(before, after, bound),
      1e6 * Seconds(client_used) / bound,
      after.rss_mib);
  std::fflush(stdout);
  if (!flags.keep) {
    CleanUp(fleet);
  }
  return finished ? 0 : 1;
}

Job ClaimJob(const Flags& flags, const std::string& name) {
  return {.target = std::string(kClaims),
          .body = Protobuf(
              api::Desc<api::resource::ResourceClaim>(),
              fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{}}})", name, ClaimSpec(flags)))};
}

int Api(const Flags& flags, Fleet& fleet) {
  constexpr int kObjects = 512;
  Call(fleet,
       "POST",
       "/api/v1/namespaces",
       R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"bench"}})");
  std::vector<Job> objects;
  for (int i = 0; i < kObjects; ++i) {
    objects.push_back(ClaimJob(flags, fmt::format("c-{:07d}", i)));
  }
  fleet.Run(objects, /*exists_is_fine=*/true);
  const auto run = base::SystemClock().Now().time_since_epoch().count();
  std::vector<Job> jobs;
  for (int i = 0; i < flags.n; ++i) {
    const std::string object = fmt::format("{}/c-{:07d}", kClaims, i % kObjects);
    if (flags.api == "creates") {
      jobs.push_back(ClaimJob(flags, fmt::format("n-{}-{:07d}", run, i)));
    } else if (flags.api == "writes") {
      jobs.push_back({.method = "PATCH",
                      .target = object,
                      .body = net::Bytes(fmt::format(
                          R"({{"metadata":{{"annotations":{{"bench":"{}-{}"}}}}}})", i, run)),
                      .content_type = "application/merge-patch+json"});
    } else if (flags.api == "gets") {
      jobs.push_back({.method = "GET", .target = object, .body = {}});
    } else {
      Fail("--api must be creates, writes or gets");
    }
  }
  const Usage before = ServerUsage(flags.pids);
  const auto client_before = fleet.CpuTime();
  const MonoTime start = Now();
  fleet.Run(jobs, /*exists_is_fine=*/false);
  const double elapsed = Seconds(Now() - start);
  const Usage after = ServerUsage(flags.pids);
  const double per = flags.n;
  fmt::print(
      R"({{"figure":"api/{}","system":"{}","client":"lean","n":{},"clients":{},"per_s":{:.1f},)"
      R"("cpu_us_per_op":{:.1f},"threads_us_per_op":{{{}}},"client_us_per_op":{:.1f},)"
      R"("rss_mib":{:.1f}}})"
      "\n",
      flags.api,
      flags.label,
      flags.n,
      flags.clients,
      per / elapsed,
      1e6 * (after.cpu - before.cpu) / per,
      ThreadReport(before, after, per),
      1e6 * Seconds(fleet.CpuTime() - client_before) / per,
      after.rss_mib);
  return 0;
}

Flags ParseFlags(int argc, char** argv) {
  Flags flags;
  if (const char* const path = std::getenv("KUBECONFIG"); path != nullptr) {
    flags.kubeconfig = path;
  }
  const std::map<std::string_view, std::string*> texts = {{"kubeconfig", &flags.kubeconfig},
                                                          {"label", &flags.label},
                                                          {"shape", &flags.shape},
                                                          {"api", &flags.api},
                                                          {"selector", &flags.selector},
                                                          {"pids", &flags.pids}};
  const std::map<std::string_view, int*> numbers = {{"nodes", &flags.nodes},
                                                    {"devices", &flags.devices},
                                                    {"pods", &flags.pods},
                                                    {"clients", &flags.clients},
                                                    {"n", &flags.n},
                                                    {"timeout", &flags.timeout}};
  for (int i = 1; i < argc; ++i) {
    std::string_view name = argv[i];
    name.remove_prefix(std::min<std::size_t>(name.find_first_not_of('-'), name.size()));
    if (name == "keep") {
      flags.keep = true;
      continue;
    }
    const auto text = texts.find(name);
    const auto number = numbers.find(name);
    if (i + 1 >= argc || (text == texts.end() && number == numbers.end())) {
      Fail(fmt::format("{} is unknown or lacks its value", argv[i]));
    }
    ++i;
    if (text != texts.end()) {
      *text->second = argv[i];
    } else {
      *number->second = std::atoi(argv[i]);
    }
  }
  return flags;
}

int Main(int argc, char** argv) {
  const Flags flags = ParseFlags(argc, argv);
  const auto config = client::LoadKubeconfig(flags.kubeconfig);
  if (!config) {
    Fail(config.error().ToString());
  }
  Fleet fleet(flags, *config);
  if (!flags.shape.empty()) {
    return Schedule(flags, fleet);
  }
  return Api(flags, fleet);
}

}  // namespace
}  // namespace allot

int main(int argc, char** argv) {
  return allot::Main(argc, argv);
}
