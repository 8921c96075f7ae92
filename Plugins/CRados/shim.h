#ifndef CAMBIUM_RADOS_SHIM_H
#define CAMBIUM_RADOS_SHIM_H
#include <rados/librados.h>
#endif
