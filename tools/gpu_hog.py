"""gpu_hog.py MIB: takes all memory of the GPU but what a further program's context needs and so many MiB, says so, and
holds it until it is ended. Through the driver alone; part of tools/gpu_tests.sh."""
import ctypes, subprocess, sys, time

cuda = ctypes.CDLL("libcuda.so.1")


def free():
    now, total = ctypes.c_size_t(), ctypes.c_size_t()
    if cuda.cuMemGetInfo_v2(ctypes.byref(now), ctypes.byref(total)):
        sys.exit("cuMemGetInfo fails")
    return now.value


def begin():
    device, context = ctypes.c_int(), ctypes.c_void_p()
    if cuda.cuInit(0) or cuda.cuDeviceGet(ctypes.byref(device), 0) or \
            cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) or cuda.cuCtxSetCurrent(context):
        sys.exit("there is no GPU")


begin()
if sys.argv[1] == "context":  # the further program, of which nothing but its context is wanted
    print(free(), flush=True)
    sys.stdin.read()
    sys.exit()
before = free()
other = subprocess.Popen([sys.executable, __file__, "context"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
other.stdout.readline()
context = before - free()
other.communicate()
leave = context + (int(sys.argv[1]) << 20)
while free() > leave + (4 << 20):
    data = ctypes.c_uint64()
    if cuda.cuMemAlloc_v2(ctypes.byref(data), ctypes.c_size_t(min(free() - leave, 8 << 30))):
        sys.exit("cuMemAlloc fails")
print("a context takes %d MiB, %d MiB are left" % (context >> 20, free() >> 20), flush=True)
time.sleep(600)
