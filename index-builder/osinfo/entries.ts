// Lists the entries of the osinfo database that an index can refer to. The database (Debian's package osinfo-db
// 0.20221130) has the releases up to November 2022. The ids of later releases follow the database's naming rule.
// An id consists of a prefix and a key: "http://ubuntu.com/ubuntu/" + "22.04". A short id consists of a short prefix
// and the same key: "ubuntu" + "22.04".

export type OsinfoFamily = {
  readonly id_prefix: string;
  readonly short_prefix: string;
  /** Returns the key of a version; null if the version does not have the form of the keys. */
  readonly releaseKey: (version: string) => string | null;
  readonly pointKey: (point_release: string) => string | null;
  /** The keys in the database of 2022 to which an index can refer. */
  readonly in_database: readonly string[];
  /** True if the naming rule also gives an id to point releases that are not in the database. */
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
    // The database has entries for only some point releases of Rocky Linux. The others get no entry.
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
    // Betas have no entry in the database.
    releaseKey: whole(/^\d+$/),
    in_database: ["35", "36", "37"],
  },
  oracle: {
    id_prefix: "http://oracle.com/ol/",
    short_prefix: "ol",
    // The database's entries are point releases; a release of the index is a major version.
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

/** The only entry of Arch Linux, which has no version. The database has no entries for OmniOS, SmartOS and Talos. */
export const OSINFO_ARCH = { id: "http://archlinux.org/archlinux/rolling", short_id: "archlinux" } as const;
