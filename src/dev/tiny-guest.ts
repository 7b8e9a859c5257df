// Builds a guest that fits into one sector. The guest prints a line on its serial console, and turns itself off when
// the power button is pressed. Even without KVM, it boots in a second, so a scenario can run a real VM without an
// operating system.

const SECTOR_BYTES = 512;
const SIGNATURE_AT = 510;
/** Address at which BIOS loads the first sector. */
const ORIGIN = 0x7c00;
/** I/O ports of QEMU's machine q35: the serial console, and the power management of ACPI. */
const CONSOLE = 0x3f8;
const POWER_STATUS = 0x600;
const POWER_ENABLE = 0x602;
const POWER_CONTROL = 0x604;
/** The bit of the power button in the status register and in the enable register, and the command to turn off. */
const POWER_BUTTON = 0x100;
const TURN_OFF = 0x2000;

/** The line that the guest prints when it runs. */
export const TINY_GUEST_LINE = "The machine runs. It has no operating system.";

/** Returns a disk of this size, which must be a multiple of a sector. */
export function tinyGuest(disk_bytes: number): Uint8Array {
  const disk = new Uint8Array(disk_bytes);
  const text = new TextEncoder().encode(`${TINY_GUEST_LINE}\r\n\0`);
  // The text follows the code. The length of the code does not depend on the text's address.
  const code = codeWith(ORIGIN + codeWith(0).length);
  disk.set(code);
  disk.set(text, code.length);
  disk.set([0x55, 0xaa], SIGNATURE_AT);
  if (code.length + text.length > SIGNATURE_AT || disk_bytes % SECTOR_BYTES !== 0) {
    throw new Error("the code and the text of the guest must fit in one sector, and the disk must have whole sectors");
  }
  return disk;
}

/** The code, in 16-bit mode. */
function codeWith(text_at: number): readonly number[] {
  return [
    ...[0x31, 0xc0], // xor ax, ax
    ...[0x8e, 0xd8], // mov ds, ax
    ...[0xbe, ...word(text_at)], // mov si, text
    ...[0xba, ...word(CONSOLE)], // mov dx, console
    0xac, // next: lodsb
    ...[0x84, 0xc0], // test al, al
    ...[0x74, 0x03], // jz printed
    0xee, // out dx, al
    ...[0xeb, 0xf8], // jmp next
    ...[0xba, ...word(POWER_ENABLE)], // printed: mov dx, power_enable
    ...[0xb8, ...word(POWER_BUTTON)], // mov ax, power_button
    0xef, // out dx, ax
    0xfb, // wait: sti
    0xf4, // hlt, until the next tick of the clock
    ...[0xba, ...word(POWER_STATUS)], // mov dx, power_status
    0xed, // in ax, dx
    ...[0xf6, 0xc4, POWER_BUTTON >> 8], // test ah, power_button
    ...[0x74, 0xf5], // jz wait
    ...[0xba, ...word(POWER_CONTROL)], // mov dx, power_control
    ...[0xb8, ...word(TURN_OFF)], // mov ax, turn_off
    0xef, // out dx, ax
    0xf4, // hlt
  ];
}

function word(value: number): readonly number[] {
  return [value & 0xff, value >> 8];
}
