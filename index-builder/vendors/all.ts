// Lists all vendors, in the order of the index.
import type { Vendor } from "../vendor.ts";
import { alma } from "./alma.ts";
import { alpine } from "./alpine.ts";
import { arch } from "./arch.ts";
import { centosStream } from "./centos-stream.ts";
import { debian } from "./debian.ts";
import { fedora } from "./fedora.ts";
import { freebsd } from "./freebsd.ts";
import { omnios } from "./omnios.ts";
import { openbsd } from "./openbsd.ts";
import { opensuse } from "./opensuse.ts";
import { oracle } from "./oracle.ts";
import { rocky } from "./rocky.ts";
import { smartos } from "./smartos.ts";
import { talos } from "./talos.ts";
import { ubuntu } from "./ubuntu.ts";

export const VENDORS: readonly Vendor[] = [
  ubuntu,
  debian,
  rocky,
  alma,
  centosStream,
  fedora,
  oracle,
  opensuse,
  alpine,
  arch,
  freebsd,
  openbsd,
  omnios,
  smartos,
  talos,
];
