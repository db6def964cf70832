// Generic rules of ObjectMeta: validation on create and update, and what the server carries over.
// Thread safety: stateless.
#pragma once

#include <cstdint>
#include <string_view>

#include "api/meta/v1.gen.h"
#include "api/names.h"
#include "api/validate.h"

namespace allot::api {

enum class Scope : std::uint8_t { kNamespaced, kCluster };
/// Whether a finalizer without a domain must be one of Kubernetes' own.
enum class FinalizerRule : std::uint8_t { kKnown, kAny };

/// Everything upstream checks of metadata on create.
void ValidateObjectMeta(const meta::ObjectMeta& metadata,
                        Scope scope,
                        NameRule rule,
                        const Path& path,
                        FieldErrors& errors,
                        FinalizerRule finalizers = FinalizerRule::kKnown);
/// Everything upstream checks of metadata on update: immutable fields and, when they differ, the
/// others.
void ValidateObjectMetaUpdate(const meta::ObjectMeta& next,
                              const meta::ObjectMeta& old,
                              const Path& path,
                              FieldErrors& errors,
                              FinalizerRule finalizers = FinalizerRule::kKnown);
/// What is checked of every update before the rules of its kind.
void ValidateCommonMeta(const meta::ObjectMeta& metadata, Scope scope, FieldErrors& errors);
/// Label keys and values at `path` (`metadata.labels`, `spec.nodeSelector`).
void ValidateLabels(const schema::Map<schema::Str>& labels, const Path& path, FieldErrors& errors);
/// Annotation keys and their total size.
void ValidateAnnotations(const schema::Map<schema::Str>& annotations,
                         const Path& path,
                         FieldErrors& errors);
/// conditions of type metav1.Condition: types unique, reasons and times present.
void ValidateConditions(const schema::List<meta::Condition>& conditions,
                        const Path& path,
                        FieldErrors& errors);

/// What a status (or other subresource) write may not change: everything but managedFields.
void KeepObjectMeta(meta::ObjectMeta& next, const meta::ObjectMeta& old);

}  // namespace allot::api
