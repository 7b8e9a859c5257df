// Describes a bare x86 machine in QEMU, with empty disks and a network card that boots by PXE.

export type BareQemu = {
  readonly uuid: string;
  readonly mac: string;
  readonly tap: string;
  readonly memory_mib: number;
  readonly processors: number;
  readonly kvm: boolean;
  /** The file of the serial console. */
  readonly console: string;
  /** The files of the disks. Each key is the serial number of a disk. */
  readonly disks: Readonly<Record<string, string>>;
};

/** Returns the arguments of qemu-system-x86_64. The machine boots from the network at every start. */
export function bareQemuArgv(machine: BareQemu): readonly string[] {
  return [
    // Bun's programs need AVX2, which the default processor of QEMU lacks.
    ...["-cpu", "max", "-accel", machine.kvm ? "kvm" : "tcg", "-m", String(machine.memory_mib)],
    ...["-smp", String(machine.processors), "-nodefaults", "-display", "none", "-monitor", "none"],
    ...["-machine", "graphics=off", "-boot", "n", "-uuid", machine.uuid, "-serial", `file:${machine.console}`],
    ...["-netdev", `tap,id=n0,ifname=${machine.tap},script=no,downscript=no`],
    ...["-device", `virtio-net-pci,netdev=n0,mac=${machine.mac}`, "-device", "virtio-rng-pci"],
    ...Object.entries(machine.disks).flatMap(([name, file]) => [
      ...["-drive", `if=none,id=${name},format=raw,discard=unmap,file=${file}`],
      ...["-device", `virtio-blk-pci,drive=${name},serial=${name}`],
    ]),
  ];
}
