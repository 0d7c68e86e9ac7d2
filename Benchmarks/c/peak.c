// Runs a command, and prints its peak of memory in KiB. The kernel also counts the memory that a process had before it
// became the command, so a large program cannot measure its own children.
//
//     peak COMMAND...

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **words) {
    if (count < 2) return 64;
    pid_t child = fork();
    if (child == 0) {
        execvp(words[1], words + 1);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child) return 1;
    fprintf(stderr, "%ld\n", usage.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
