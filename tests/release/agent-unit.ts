// Limits a program as the service of the packaged node agent does: capabilities, address families and umask.
import { constants } from "node:os";
import { readText } from "../lint/sources.ts";
import { parseUnit } from "./unit.ts";

const UNIT = parseUnit(readText("cli/release/files/berth-nodeagent.service"));
const CAPABILITIES = UNIT.one("CapabilityBoundingSet").toLowerCase().split(" ").map((name) =>
  name.replace("cap_", "+")
);

/** Numbers of Linux's address families. */
const FAMILY_NUMBERS: Readonly<Record<string, number>> = {
  AF_UNIX: 1,
  AF_INET: 2,
  AF_INET6: 10,
  AF_NETLINK: 16,
  AF_PACKET: 17,
};

/**
 * A Python program that acts like systemd's RestrictAddressFamilies: the system call `socket` fails for every family
 * that is not in the first argument. Then it runs the program in the other arguments.
 */
const RESTRICT_FAMILIES = `
import ctypes, os, struct, sys
socket = {"x86_64": 41, "aarch64": 198}[os.uname().machine]
allowed = [int(each) for each in sys.argv[1].split(",")]
step = lambda code, met, unmet, value: struct.pack("HBBI", code, met, unmet, value)
load, equals, answer = 0x20, 0x15, 0x06
allow, refuse = step(answer, 0, 0, 0x7fff0000), step(answer, 0, 0, 0x50000 | ${constants.errno.EAFNOSUPPORT})
steps = [step(load, 0, 0, 0), step(equals, 1, 0, socket), allow, step(load, 0, 0, 16)]
for each in allowed:
    steps += [step(equals, 0, 1, each), allow]
code = ctypes.create_string_buffer(b"".join([*steps, refuse]))
program = ctypes.create_string_buffer(struct.pack("HP", len(steps) + 1, ctypes.addressof(code)))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(22, 2, ctypes.c_void_p(ctypes.addressof(program))) != 0:
    raise OSError(ctypes.get_errno(), "cannot restrict the address families")
os.execvp(sys.argv[2], sys.argv[2:])
`;

const FAMILIES = UNIT.one("RestrictAddressFamilies").split(" ").map((name) => {
  const number = FAMILY_NUMBERS[name];
  if (number === undefined) throw new Error(`add the number of ${name} to FAMILY_NUMBERS`);
  return number;
});

/** The command that runs a program with the umask of the service and only its capabilities and address families. */
export const AS_AGENT_SERVICE: readonly string[] = [
  ...["sh", "-c", `umask ${UNIT.one("UMask")}; exec "$0" "$@"`],
  "setpriv",
  "--no-new-privs",
  `--bounding-set=-all,${CAPABILITIES.join()}`,
  "--",
  ...["python3", "-I", "-S", "-c", RESTRICT_FAMILIES, FAMILIES.join()],
];
