#ifndef CAMBIUM_ROCKSDB_SHIM_H
#define CAMBIUM_ROCKSDB_SHIM_H
#include <rocksdb/c.h>
#endif
