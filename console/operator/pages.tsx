// Lists the operators' pages.
import { page, type PageRow } from "../core/page-row.ts";
import { Later } from "../parts/later.tsx";
import { Instances } from "./instances.tsx";
import { Node } from "./node.tsx";
import { Nodes } from "./nodes.tsx";
import { Overview } from "./overview.tsx";
import { Tenants } from "./tenants.tsx";

const SITE = "Site";
const WORK = "Work";
const TENANCY = "Tenancy";
const operator = { audience: "operator" } as const;

type More = typeof import("./more-pages.ts");
/** The names of the pages in more-pages.ts that show one object. `Plain` has the names of the other pages. */
type OfOne =
  | "AuditEventPage"
  | "BootRecordPage"
  | "FactoryReset"
  | "InstanceMigrations"
  | "JobPage"
  | "NetworkTracePage"
  | "NodeDrain"
  | "NodeEvacuate"
  | "TenantPage";
type Plain = Exclude<keyof More, OfOne | "OperationOutcome" | "NodeHardware" | "NodeLoadTab" | "NodeSetup">;
const more = (name: Plain) => async () => (await import("./more-pages.ts"))[name];
const one = (name: OfOne, id: string) => async () => {
  const View = (await import("./more-pages.ts"))[name];
  return () => <View id={id} />;
};
const audit = async () => {
  const { Audit } = await import("./audit.tsx");
  return () => <Audit />;
};

export const OPERATOR_PAGES: readonly PageRow[] = [
  page("/overview", { ...operator, title: "Overview", group: SITE, key: "o" }, () => <Overview />),
  page("/nodes", { ...operator, title: "Nodes", group: SITE, key: "n" }, () => <Nodes />),
  page("/nodes/:id", { ...operator, title: "Node" }, ({ id }) => <Node id={id} />),
  page(
    "/nodes/:id/factory-reset",
    { ...operator, title: "Factory reset" },
    ({ id }) => <Later load={one("FactoryReset", id)} />,
  ),
  page("/nodes/:id/drain", { ...operator, title: "Drain" }, ({ id }) => <Later load={one("NodeDrain", id)} />),
  page(
    "/nodes/:id/evacuate",
    { ...operator, title: "Evacuate" },
    ({ id }) => <Later load={one("NodeEvacuate", id)} />,
  ),
  page("/upgrade-by-label", { ...operator, title: "Upgrade by label" }, () => <Later load={more("LabelUpgrade")} />),
  page("/drain-by-label", { ...operator, title: "Drain by label" }, () => <Later load={more("LabelDrain")} />),
  page(
    "/instances/:id/migrations",
    { ...operator, title: "Migrations" },
    ({ id }) => <Later load={one("InstanceMigrations", id)} />,
  ),
  page(
    "/instances/:id/trace",
    { ...operator, title: "Trace a packet" },
    ({ id }) => <Later load={one("NetworkTracePage", id)} />,
  ),
  page(
    "/boot",
    { ...operator, title: "Boot records", group: SITE, key: "b" },
    () => <Later load={more("BootRecords")} />,
  ),
  page("/boot-policy", { ...operator, title: "Boot policy" }, () => <Later load={more("BootPolicyPage")} />),
  page("/boot-roster", { ...operator, title: "Declared machines" }, () => <Later load={more("RosterPage")} />),
  page("/boot/:mac", { ...operator, title: "Boot record" }, ({ mac }) => <Later load={one("BootRecordPage", mac)} />),
  page(
    "/placement",
    { ...operator, title: "Placement", group: SITE, key: "p" },
    () => <Later load={more("Placement")} />,
  ),
  page("/capacity", { ...operator, title: "Capacity", group: SITE, key: "y" }, () => <Later load={more("Capacity")} />),
  page(
    "/networks",
    { ...operator, title: "External networks", group: SITE, key: "e" },
    () => <Later load={more("Networks")} />,
  ),
  page("/images", { ...operator, title: "Images", group: SITE, key: "m" }, () => <Later load={more("Images")} />),
  page("/all-instances", { ...operator, title: "All instances", group: WORK, key: "i" }, () => <Instances />),
  page("/jobs", { ...operator, title: "Jobs", group: WORK, key: "j" }, () => <Later load={more("Jobs")} />),
  page("/jobs/:id", { ...operator, title: "Job" }, ({ id }) => <Later load={one("JobPage", id)} />),
  page("/audit", { ...operator, title: "Audit", group: WORK, key: "a" }, () => <Later load={audit} />),
  page("/audit/:seq", { ...operator, title: "Audit event" }, ({ seq }) => <Later load={one("AuditEventPage", seq)} />),
  page(
    "/audit-verification",
    { ...operator, title: "Verify the audit chain" },
    () => <Later load={more("AuditVerificationPage")} />,
  ),
  page("/doctor", { ...operator, title: "Doctor", group: WORK, key: "d" }, () => <Later load={more("Doctor")} />),
  page("/tenants", { ...operator, title: "Tenants", group: TENANCY, key: "t" }, () => <Tenants />),
  page("/tenants/:id", { ...operator, title: "Tenant" }, ({ id }) => <Later load={one("TenantPage", id)} />),
  page("/users", { ...operator, title: "Users", group: TENANCY, key: "u" }, () => <Later load={more("Users")} />),
  page(
    "/settings",
    { ...operator, title: "Settings", group: TENANCY, key: "s" },
    () => <Later load={more("Settings")} />,
  ),
];
