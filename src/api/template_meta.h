// Metadata of templates, from which other objects are made. Thread safety: stateless.
#pragma once

#include "api/meta/v1.gen.h"
#include "api/validate.h"

namespace allot::api {

/// Only labels and annotations may be given to what is made from a template.
void ValidateTemplateMeta(const meta::ObjectMeta& metadata, const Path& path, FieldErrors& errors);

}  // namespace allot::api
