// The entries of the osinfo database that an index can refer to. Two sources, kept apart: what the database itself held in
// November 2022 (Debian's package osinfo-db 0.20221130), and, for anything released since, the id that the database's own
// naming gives. Ids are made from a key: "http://ubuntu.com/ubuntu/" + "22.04", "ubuntu" + "22.04".

export type OsinfoFamily = {
  readonly id_prefix: string;
  readonly short_prefix: string;
  /** The key in a release's version or a point release; null where the database has no entry of that kind. */
  readonly releaseKey: (version: string) => string | null;
  readonly pointKey: (point_release: string) => string | null;
  /** Keys the database held. */
  readonly in_database: readonly string[];
  /** Whether a point release that the database did not hold is named by rule too. */
  readonly points_by_rule: boolean;
};

const none = () => null;
const whole = (shape: RegExp) => (version: string) => shape.test(version) ? version : null;
const leading = (shape: RegExp) => (version: string) => shape.exec(version)?.[0] ?? null;
const MAJOR = /^\d+(?=\.|-|$)/;
const MAJOR_MINOR = /^\d+\.\d+/;

const plain = { pointKey: none, points_by_rule: false } as const;

export const OSINFO_FAMILIES: Readonly<Record<string, OsinfoFamily>> = {
  ubuntu: {
    ...plain,
    id_prefix: "http://ubuntu.com/ubuntu/",
    short_prefix: "ubuntu",
    releaseKey: whole(/^\d+\.\d\d$/),
    in_database: ["18.04", "20.04", "20.10", "21.04", "21.10", "22.04", "22.10"],
  },
  debian: {
    ...plain,
    id_prefix: "http://debian.org/debian/",
    short_prefix: "debian",
    releaseKey: leading(MAJOR),
    in_database: ["9", "10", "11"],
  },
  rocky: {
    id_prefix: "http://rockylinux.org/rocky/",
    short_prefix: "rocky",
    releaseKey: leading(MAJOR),
    // The database has entries of both kinds, but later point releases came irregularly: only those it held.
    pointKey: whole(/^\d+\.\d+$/),
    points_by_rule: false,
    in_database: ["8", "8.4", "8.5", "8.6", "9", "9.0"],
  },
  alma: {
    ...plain,
    id_prefix: "http://almalinux.org/almalinux/",
    short_prefix: "almalinux",
    releaseKey: leading(MAJOR),
    in_database: ["8", "9"],
  },
  "centos-stream": {
    ...plain,
    id_prefix: "http://centos.org/centos-stream/",
    short_prefix: "centos-stream",
    releaseKey: leading(MAJOR),
    in_database: ["8", "9"],
  },
  fedora: {
    ...plain,
    id_prefix: "http://fedoraproject.org/fedora/",
    short_prefix: "fedora",
    // A beta has no entry.
    releaseKey: whole(/^\d+$/),
    in_database: ["35", "36", "37"],
  },
  oracle: {
    id_prefix: "http://oracle.com/ol/",
    short_prefix: "ol",
    // Oracle's entries are point releases; its release here is a major one.
    releaseKey: leading(MAJOR_MINOR),
    pointKey: whole(/^\d+\.\d+$/),
    points_by_rule: true,
    in_database: ["7.9", "8.0", "8.1", "8.2", "8.3", "8.4", "8.5"],
  },
  opensuse: {
    ...plain,
    id_prefix: "http://opensuse.org/opensuse/",
    short_prefix: "opensuse",
    releaseKey: whole(/^\d+\.\d+$/),
    in_database: ["15.0", "15.1", "15.2", "15.3", "15.4"],
  },
  alpine: {
    ...plain,
    id_prefix: "http://alpinelinux.org/alpinelinux/",
    short_prefix: "alpinelinux",
    releaseKey: leading(MAJOR_MINOR),
    in_database: ["3.13", "3.14", "3.15", "3.16", "3.17"],
  },
  freebsd: {
    id_prefix: "http://freebsd.org/freebsd/",
    short_prefix: "freebsd",
    releaseKey: none,
    pointKey: whole(/^\d+\.\d+$/),
    points_by_rule: true,
    in_database: ["12.3", "13.0", "13.1"],
  },
  openbsd: {
    ...plain,
    id_prefix: "http://openbsd.org/openbsd/",
    short_prefix: "openbsd",
    releaseKey: whole(/^\d+\.\d+$/),
    in_database: ["6.8", "6.9", "7.0"],
  },
};

/** Arch has one entry and it does not follow the pattern. The database has none for OmniOS, SmartOS and Talos. */
export const OSINFO_ARCH = { id: "http://archlinux.org/archlinux/rolling", short_id: "archlinux" } as const;
