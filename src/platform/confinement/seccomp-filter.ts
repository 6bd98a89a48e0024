/** System calls that a confined process may not make. */
const refused: readonly (readonly [name: string, x64: number, arm64: number])[] = [
  // Network and local sockets.
  ["socket", 41, 198],
  ["connect", 42, 203],
  ["bind", 49, 200],
  ["listen", 50, 201],
  ["accept", 43, 202],
  ["accept4", 288, 242],
  // io_uring can do all of the above.
  ["io_uring_setup", 425, 425],
  ["io_uring_enter", 426, 426],
  ["io_uring_register", 427, 427],
  // Other processes of the same user.
  ["ptrace", 101, 117],
  ["process_vm_readv", 310, 270],
  ["process_vm_writev", 311, 271],
  ["process_madvise", 440, 440],
  ["kcmp", 312, 272],
  ["pidfd_open", 434, 434],
  ["pidfd_getfd", 438, 438],
  ["pidfd_send_signal", 424, 424],
  ["shmget", 29, 194],
  ["shmat", 30, 196],
  ["shmctl", 31, 195],
  ["semget", 64, 190],
  ["msgget", 68, 186],
  ["mq_open", 240, 180],
  // File metadata, which Landlock does not guard.
  ["truncate", 76, 45],
  ["fchmodat", 268, 53],
  ["fchmodat2", 452, 452],
  ["fchownat", 260, 54],
  ["setxattr", 188, 5],
  ["lsetxattr", 189, 6],
  ["removexattr", 197, 14],
  ["lremovexattr", 198, 15],
  ["utimensat", 280, 88],
  ["name_to_handle_at", 303, 264],
  ["open_by_handle_at", 304, 265],
  // Kernel features that decoding does not need.
  ["unshare", 272, 97],
  ["setns", 308, 268],
  ["mount", 165, 40],
  ["umount2", 166, 39],
  ["pivot_root", 155, 41],
  ["chroot", 161, 51],
  ["open_tree", 428, 428],
  ["move_mount", 429, 429],
  ["fsopen", 430, 430],
  ["fsconfig", 431, 431],
  ["fsmount", 432, 432],
  ["fspick", 433, 433],
  ["mount_setattr", 442, 442],
  ["bpf", 321, 280],
  ["perf_event_open", 298, 241],
  ["userfaultfd", 323, 282],
  ["add_key", 248, 217],
  ["request_key", 249, 218],
  ["keyctl", 250, 219],
];

/** Legacy calls of x64. */
const refusedOnX64 = [
  90 /* chmod */, 92 /* chown */, 94 /* lchown */, 132 /* utime */, 235 /* utimes */, 261 /* futimesat */,
];

/** For programs that start no others: no orphans and no signals to other processes. */
const refusedAlone: readonly (readonly [name: string, x64: number, arm64: number])[] = [
  ["socketpair", 53, 199],
  ["kill", 62, 129],
  ["tkill", 200, 130],
  ["tgkill", 234, 131],
  ["setsid", 112, 157],
  ["setpgid", 109, 154],
];

const machines = {
  x64: { audit: 0xc000003e, clone: 56, prlimit: 302, forks: [57, 58], column: 1 },
  arm64: { audit: 0xc00000b7, clone: 220, prlimit: 261, forks: [], column: 2 },
} as const;

const clone3 = 435;
const cloneThread = 0x00010000;
/** All CLONE_NEW* flags. */
const cloneNamespaces = 0x7e020000;

const allow = 0x7fff0000;
const killProcess = 0x80000000;
const refuse = (errno: number): number => 0x00050000 | errno;
const [notPermitted, notImplemented] = [1, 38];

/** Offsets in `struct seccomp_data`: nr, arch, and the lower half of args[0]. */
const [atNumber, atMachine, atFirstArgument] = [0, 4, 16];

export type SeccompOptions = {
  /** The process may start other programs. */
  mayFork: boolean;
};

/** The BPF program; `null` on other architectures. */
export function createSeccompFilter({ mayFork }: SeccompOptions, arch: string = process.arch): Buffer | null {
  if (arch !== "x64" && arch !== "arm64") return null;
  const { audit, clone, prlimit, forks, column } = machines[arch];
  const numbers = [...refused, ...(mayFork ? [] : refusedAlone)].map((row) => row[column]);
  return Buffer.concat([
    load(atMachine),
    ...unless(audit, killProcess),
    load(atNumber),
    // x32 numbers of the same calls.
    ...(arch === "x64" ? [jump("atLeast", 0x40000000, 0, 1), answer(refuse(notPermitted))] : []),
    ...[...numbers, ...(arch === "x64" ? refusedOnX64 : []), ...(mayFork ? [] : forks)].flatMap((number) => [
      jump("equals", number, 0, 1),
      answer(refuse(notPermitted)),
    ]),
    // BPF cannot read clone3's flags; on ENOSYS libc falls back to clone.
    ...[jump("equals", clone3, 0, 1), answer(refuse(notImplemented))],
    ...[jump("equals", clone, 0, 4), load(atFirstArgument), ...chooseClone(mayFork), answer(allow)],
    // prlimit only for the process itself.
    ...[jump("equals", prlimit, 0, 3), load(atFirstArgument), jump("equals", 0, 1, 0), answer(refuse(notPermitted))],
    answer(allow),
  ]);
}

/** Threads, or also processes, but never namespaces. */
function chooseClone(mayFork: boolean): Buffer[] {
  return mayFork
    ? [jump("hasAny", cloneNamespaces, 0, 1), answer(refuse(notPermitted))]
    : [jump("hasAny", cloneThread, 1, 0), answer(refuse(notPermitted))];
}

function unless(value: number, otherwise: number): Buffer[] {
  return [jump("equals", value, 1, 0), answer(otherwise)];
}

function load(offset: number): Buffer {
  return instruct(0x20, 0, 0, offset);
}

const jumps = { equals: 0x15, atLeast: 0x35, hasAny: 0x45 } as const;

/** Skips `whenTrue` or `whenFalse` instructions. */
function jump(kind: keyof typeof jumps, value: number, whenTrue: number, whenFalse: number): Buffer {
  return instruct(jumps[kind], whenTrue, whenFalse, value);
}

function answer(value: number): Buffer {
  return instruct(0x06, 0, 0, value);
}

function instruct(code: number, whenTrue: number, whenFalse: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.set([whenTrue, whenFalse], 2);
  bytes.writeUInt32LE(value >>> 0, 4);
  return bytes;
}
