// Types of libraries that come with .natvis files of their own. The program prints what those files say.
#include "text.h"

#define PUGIXML_HEADER_ONLY
#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>
#include <glm/vec4.hpp>
#include <imgui.h>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>

// What imgui.h declares and this program does not link.
void *ImGui::MemAlloc(size_t n) { return malloc(n); }
void ImGui::MemFree(void *p) { free(p); }

__attribute__((noinline)) void stop() { asm volatile("" : : : "memory"); }

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  glm::vec3 v3(1, 2.5, -3);
  glm::ivec4 i4(1, 2, 3, 4);
  glm::quat q(1, 2, 3, 4);
  ImVec2 im2(1.5f, -2);
  ImVec4 im4(1, 2, 3, 4);
  ImVector<int> im0, im3;
  im3.push_back(7), im3.push_back(8), im3.push_back(9);
  nlohmann::json j0, j = {{"a", 1}, {"b", {1, 2.5, "x", nullptr, true}}};
  pugi::xml_document document;
  document.load_string("<top><child name='value' other='1'>text</child><empty/></top>");
  pugi::xml_node none, top = document.child("top"), child = top.child("child"), text_node = child.first_child();
  pugi::xml_attribute attribute = child.attribute("name"), no_attribute;
  SAYS(v3, "1, 2.5, -3 = {x = 1, y = 2.5, z = -3}");
  SAYS(i4, "1, 2, 3, 4 = {x = 1, y = 2, z = 3, w = 4}");
  SAYS(q, "2, 3, 4, 1 = {x = 2, y = 3, z = 4, w = 1}");
  SAYS(im2, "{x=1.5 y=-2}");
  SAYS(im4, "{x=1 y=2 z=3 w=4}");
  SAYS(im0, "{Size=0 Capacity=0}");
  SAYS(im3, "{Size=3 Capacity=8} = {7, 8, 9}");
  SAYS(j0, "null");
  SAYS(j, "std::map with 2 elements = {[\"a\"] = 1, [\"b\"] = std::vector of length 5, capacity 5 = {1, 2.5, \"x\", null, true}}");
  SAYS(none, "none");
  SAYS(top, format("0x%lx {pugi::node_element name=\"top\"}…", (unsigned long)top.internal_object()));
  SAYS(text_node, format("0x%lx {pugi::node_pcdata value=\"text\"}…", (unsigned long)text_node.internal_object()));
  SAYS(attribute, format("0x%lx {\"name\" = \"value\"}…", (unsigned long)attribute.internal_object()));
  SAYS(no_attribute, "none");
  stop();
}
