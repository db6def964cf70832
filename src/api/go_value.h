// GoValue: how messages of hand-written rules show an object: as JSON of the server's own
// (unversioned) types, which have no JSON names. Kubernetes prints them so, and people search for
// these texts. Thread safety: stateless.
#pragma once

#include "api/validate.h"
#include "schema/type_desc.h"
#include "schema/types.h"

namespace allot::api {

/// `{"Name":"x","ResourceClaimName":null}`: every field, in Go's spelling, absent ones as null.
[[nodiscard]] BadValue GoValue(const schema::TypeDesc& type, const void* root);

/// A list of such objects; null when the list is absent.
[[nodiscard]] BadValue GoValues(const schema::TypeDesc& type, const void* first, std::size_t count);

/// A list of texts; null when it is absent.
[[nodiscard]] BadValue GoTexts(const schema::List<schema::Str>& texts);

}  // namespace allot::api
