#include "CPlatform.h"

// The shape of the table that each image registers with the Swift runtime
// (swift/Runtime: `MetadataSections`); fields are only ever appended to it.
typedef struct {
  uintptr_t start;
  size_t length;
} section_range;

typedef struct {
  uintptr_t version;
  const void *base;
  const void *unused[2];
  section_range protocols;
  section_range conformances;
  section_range types;
} metadata_sections;

#if defined(__linux__)
extern void swift_enumerateAllMetadataSections(bool (*body)(const metadata_sections *, void *),
                                               void *context);

typedef struct {
  void (*visit)(const void *, void *);
  void *context;
} enumeration;

static bool visit_sections(const metadata_sections *sections, void *raw) {
  const enumeration *state = raw;
  const int32_t *record = (const int32_t *)sections->types.start;
  size_t count = sections->types.length / sizeof(int32_t);
  for (size_t i = 0; i < count; i++) {
    intptr_t address = (intptr_t)&record[i] + (record[i] & ~3);
    // The low two bits say how the record refers to its descriptor: 0 direct, 1 through a pointer.
    switch (record[i] & 3) {
    case 0:
      state->visit((const void *)address, state->context);
      break;
    case 1:
      state->visit(*(const void *const *)address, state->context);
      break;
    default:
      break;
    }
  }
  return true;
}

void cambium_for_each_type_descriptor(void (*visit)(const void *, void *), void *context) {
  enumeration state = {visit, context};
  swift_enumerateAllMetadataSections(visit_sections, &state);
}

static bool count_sections(const metadata_sections *sections, void *count) {
  *(size_t *)count += sections->types.length / sizeof(int32_t);
  return true;
}

size_t cambium_type_descriptor_count(void) {
  size_t count = 0;
  swift_enumerateAllMetadataSections(count_sections, &count);
  return count;
}
#else
size_t cambium_type_descriptor_count(void) { return 0; }

void cambium_for_each_type_descriptor(void (*visit)(const void *, void *), void *context) {
  (void)visit;
  (void)context;
}
#endif

extern const void *swift_getTypeContextDescriptor(const void *metadata);

const void *cambium_type_descriptor(const void *metadata) {
  return swift_getTypeContextDescriptor(metadata);
}

typedef struct {
  size_t negative;
  size_t positive;
} class_extents;

extern __attribute__((swiftcall)) class_extents
_swift_getSwiftClassInstanceExtents(const void *metadata);

size_t cambium_instance_size(const void *metadata) {
  return _swift_getSwiftClassInstanceExtents(metadata).positive;
}

typedef struct {
  const void *metadata;
  size_t state;
} metadata_response;

typedef __attribute__((swiftcall)) metadata_response (*metadata_accessor)(size_t request);

const void *cambium_call_metadata_accessor(const void *function) {
  return ((metadata_accessor)function)(0).metadata;
}
