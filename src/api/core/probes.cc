// Probes and lifecycle handlers of containers.
#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "api/core/rules.h"
#include "api/names.h"

namespace allot::api::core {

using schema::Str;

namespace {

/// The handlers a probe or a lifecycle hook may have.
struct Handler {
  const ExecAction* exec = nullptr;
  const HTTPGetAction* http_get = nullptr;
  const TCPSocketAction* tcp_socket = nullptr;
  const GRPCAction* grpc = nullptr;
  const SleepAction* sleep = nullptr;
};

void ValidatePort(const schema::IntOrString& port, const Path& path, FieldErrors& errors) {
  if (port.is_string) {
    errors.InvalidAll(path, port.text, PortNameProblems(port.text));
  } else {
    for (const std::string& problem : PortNumberProblems(port.number)) {
      errors.Invalid(path, port.number, problem);
    }
  }
}

void ValidateHttpGet(const HTTPGetAction& action, const Path& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kSchemes = {"HTTP", "HTTPS"};
  constexpr std::array<std::string_view, 2> kProtocols = {"HTTP1", "HTTP2"};
  if (action.path.empty()) {
    errors.Required(path.Child("path"));
  }
  ValidatePort(action.port, path.Child("port"), errors);
  if (std::ranges::find(kSchemes, action.scheme) == kSchemes.end()) {
    errors.NotSupported(path.Child("scheme"), action.scheme, kSchemes);
  }
  for (const HTTPHeader& header : action.http_headers) {
    errors.InvalidAll(path.Child("httpHeaders"), header.name, HttpHeaderNameProblems(header.name));
  }
  if (action.protocol == nullptr) {
    return;
  }
  if (std::ranges::find(kProtocols, *action.protocol) == kProtocols.end()) {
    errors.NotSupported(path.Child("protocol"), *action.protocol, kProtocols);
  } else if (*action.protocol == "HTTP2" && action.scheme != "HTTP") {
    errors.Invalid(path.Child("protocol"), *action.protocol, "is only supported with HTTP (H2C)");
  } else if (*action.protocol == "HTTP2" && !action.host.empty()) {
    errors.Invalid(path.Child("host"), action.host, "must be empty when `protocol` is \"HTTP2\"");
  }
}

void ValidateGrpc(const GRPCAction& action, const Path& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 2> kModes = {"Plaintext", "TLS"};
  ValidatePort({.number = action.port}, path.Child("port"), errors);
  if (action.mode != nullptr && std::ranges::find(kModes, *action.mode) == kModes.end()) {
    errors.NotSupported(path.Child("mode"), *action.mode, kModes);
  }
}

void ValidateHandler(const Handler& handler,
                     const PodSpec& spec,
                     const Path& path,
                     FieldErrors& errors) {
  int handlers = 0;
  // Answers whether this handler is the one that is looked at.
  const auto first = [&](bool set, std::string_view name) {
    if (set && handlers++ > 0) {
      errors.Forbidden(path.Child(name), "may not specify more than 1 handler type");
      return false;
    }
    return set;
  };
  if (first(handler.exec != nullptr, "exec") && handler.exec->command.empty()) {
    const Path exec = path.Child("exec");
    errors.Required(exec.Child("command"));
  }
  if (first(handler.http_get != nullptr, "httpGet")) {
    ValidateHttpGet(*handler.http_get, path.Child("httpGet"), errors);
  }
  if (first(handler.tcp_socket != nullptr, "tcpSocket")) {
    const Path socket = path.Child("tcpSocket");
    ValidatePort(handler.tcp_socket->port, socket.Child("port"), errors);
  }
  if (first(handler.grpc != nullptr, "grpc")) {
    ValidateGrpc(*handler.grpc, path.Child("grpc"), errors);
  }
  if (first(handler.sleep != nullptr, "sleep") &&
      spec.termination_grace_period_seconds != nullptr) {
    const std::int64_t grace = *spec.termination_grace_period_seconds;
    if (handler.sleep->seconds < 0 || handler.sleep->seconds > grace) {
      errors.Invalid(
          path.Child("sleep"),
          handler.sleep->seconds,
          fmt::format("must be non-negative and less than terminationGracePeriodSeconds ({})",
                      grace));
    }
  }
  if (handlers == 0) {
    errors.Required(path, "must specify a handler type");
  }
}

Handler HandlerOf(const ProbeHandler& probe) {
  return {.exec = probe.exec,
          .http_get = probe.http_get,
          .tcp_socket = probe.tcp_socket,
          .grpc = probe.grpc};
}

Handler HandlerOf(const LifecycleHandler& hook) {
  return {.exec = hook.exec,
          .http_get = hook.http_get,
          .tcp_socket = hook.tcp_socket,
          .sleep = hook.sleep};
}

void ValidateProbe(const Probe& probe, const PodSpec& spec, const Path& path, FieldErrors& errors) {
  ValidateHandler(HandlerOf(probe.probe_handler), spec, path, errors);
  const auto not_negative = [&](std::int32_t value, std::string_view name) {
    if (value < 0) {
      errors.Invalid(path.Child(name), value, "must be greater than or equal to 0");
    }
  };
  not_negative(probe.initial_delay_seconds, "initialDelaySeconds");
  not_negative(probe.timeout_seconds, "timeoutSeconds");
  not_negative(probe.period_seconds, "periodSeconds");
  not_negative(probe.success_threshold, "successThreshold");
  not_negative(probe.failure_threshold, "failureThreshold");
  if (probe.termination_grace_period_seconds != nullptr &&
      *probe.termination_grace_period_seconds <= 0) {
    errors.Invalid(path.Child("terminationGracePeriodSeconds"),
                   *probe.termination_grace_period_seconds,
                   "must be greater than 0");
  }
}

}  // namespace

void ValidateProbes(const Container& container,
                    const PodSpec& spec,
                    const Path& path,
                    FieldErrors& errors) {
  const auto once = [&](const Probe* probe, std::string_view name) {
    if (probe == nullptr) {
      return;
    }
    const Path at = path.Child(name);
    ValidateProbe(*probe, spec, at, errors);
    if (probe->success_threshold != 1) {
      errors.Invalid(at.Child("successThreshold"), probe->success_threshold, "must be 1");
    }
  };
  once(container.liveness_probe, "livenessProbe");
  if (const Probe* const readiness = container.readiness_probe; readiness != nullptr) {
    const Path at = path.Child("readinessProbe");
    ValidateProbe(*readiness, spec, at, errors);
    if (readiness->termination_grace_period_seconds != nullptr) {
      errors.Invalid(at.Child("terminationGracePeriodSeconds"),
                     *readiness->termination_grace_period_seconds,
                     "must not be set for readinessProbes");
    }
  }
  once(container.startup_probe, "startupProbe");
}

void ValidateLifecycle(const Lifecycle& lifecycle,
                       const PodSpec& spec,
                       const Path& path,
                       FieldErrors& errors) {
  if (lifecycle.post_start != nullptr) {
    ValidateHandler(HandlerOf(*lifecycle.post_start), spec, path.Child("postStart"), errors);
  }
  if (lifecycle.pre_stop != nullptr) {
    ValidateHandler(HandlerOf(*lifecycle.pre_stop), spec, path.Child("preStop"), errors);
  }
  if (lifecycle.stop_signal != nullptr && spec.os == nullptr) {
    errors.Forbidden(path.Child("stopSignal"),
                     "may not be set for containers with empty `spec.os.name`");
  } else if (lifecycle.stop_signal != nullptr && spec.os->name == "windows") {
    constexpr std::array<std::string_view, 2> kWindows = {"SIGKILL", "SIGTERM"};
    if (std::ranges::find(kWindows, *lifecycle.stop_signal) == kWindows.end()) {
      errors.NotSupported(path.Child("stopSignal"), *lifecycle.stop_signal, kWindows);
    }
  }
}

}  // namespace allot::api::core
