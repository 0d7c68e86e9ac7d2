// Reads a document COUNT times with a C library into a tree, and frees the tree. Prints the nanoseconds for each reading.
//
//     json FILE COUNT
//
// It is compiled once for each library, with -DJANSSON, -DJSON_C or -DCJSON. Each library is as strict as possible.

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static char text[1 << 20];
static size_t length;

#if defined JANSSON
#include <jansson.h>

static int read_once(void) {
    json_t *tree = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    json_decref(tree);
    return tree != NULL;
}
#elif defined JSON_C
#include <json-c/json.h>

static int read_once(void) {
    static json_tokener *tokener;
    if (!tokener) {
        tokener = json_tokener_new();
        json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    }
    json_tokener_reset(tokener);
    json_object *tree = json_tokener_parse_ex(tokener, text, (int)length);
    json_object_put(tree);
    return tree != NULL;
}
#elif defined CJSON
#include <cjson/cJSON.h>

static int read_once(void) {
    cJSON *tree = cJSON_ParseWithLength(text, length);
    cJSON_Delete(tree);
    return tree != NULL;
}
#endif

// The processor time of this process, whatever other programs run.
static double nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

int main(int argc, char **argv) {
    FILE *file = argc == 3 ? fopen(argv[1], "r") : NULL;
    long count = file ? atol(argv[2]) : 0;
    if (count < 1) {
        fprintf(stderr, "usage: json FILE COUNT\n");
        return 64;
    }
    length = fread(text, 1, sizeof text, file);
    double start = 0;
    for (long i = -count / 10; i < count; i++) {
        if (i == 0)
            start = nanoseconds();
        if (!read_once()) {
            fprintf(stderr, "json: %s was refused\n", argv[1]);
            return 1;
        }
    }
    printf("%f\n", (nanoseconds() - start) / count);
}
