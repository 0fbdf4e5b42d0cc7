// SPDX-License-Identifier: Apache-2.0
#include <string.h>

int uwbctl_main(int argc, char **argv);
int uwbd_main(int argc, char **argv);
int uwblab_main(int argc, char **argv);

/// Runs the program named by argv[0]; `uwbctl` for any other name.
int main(int argc, char **argv) {
    const char *path = argc > 0 ? argv[0] : "";
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    if (strcmp(name, "uwbd") == 0)
        return uwbd_main(argc, argv);
    if (strcmp(name, "uwblab") == 0)
        return uwblab_main(argc, argv);
    return uwbctl_main(argc, argv);
}
