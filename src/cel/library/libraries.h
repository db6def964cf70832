// The function libraries, each adding its functions to the registry. Thread safety: called once, by
// the registry.
#pragma once

namespace allot::cel {

class Registry;

void RegisterStandard(Registry& registry);
void RegisterConversions(Registry& registry);
void RegisterTime(Registry& registry);
void RegisterOptionals(Registry& registry);
void RegisterKubernetes(Registry& registry);
void RegisterRegex(Registry& registry);
void RegisterStrings(Registry& registry);
void RegisterNetwork(Registry& registry);
void RegisterSetsAndLists(Registry& registry);

}  // namespace allot::cel
