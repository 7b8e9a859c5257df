// Lists the pages of tenants, and the pages that tenants and operators share.
import { page, type PageRow } from "../core/page-row.ts";
import { Later } from "../parts/later.tsx";
import { Operation, Operations } from "../operator/operations.tsx";
import { FloatingIps } from "./floating-ips.tsx";
import { Images } from "./images.tsx";
import { InstancePage } from "./instance.tsx";
import { Instances } from "./instances.tsx";
import { Projects, Quota } from "./projects.tsx";
import type { Place } from "./place.ts";
import { Vpcs } from "./vpcs.tsx";

const PROJECT = "Project";
const tenant = { audience: "tenant" } as const;
const both = { audience: "both" } as const;

type More = typeof import("./more-pages.ts");
type OfProject = "NewInstance" | "PlacementGroups" | "Webhooks";

const one = (name: Exclude<keyof More, OfProject | "Me">, id: string) => async () => {
  const View = (await import("./more-pages.ts"))[name];
  return () => <View id={id} />;
};
const me = async () => (await import("./more-pages.ts")).Me;
const ofProject = (name: OfProject, place: Place) => async () => {
  const View = (await import("./more-pages.ts"))[name];
  return () => <View place={place} />;
};
const audit = (of: string) => async () => {
  const { Audit } = await import("../operator/audit.tsx");
  return () => <Audit tenant={of} />;
};

export const TENANT_PAGES: readonly PageRow[] = [
  page("/t/:tenant", { ...tenant, title: "Projects" }, ({ tenant: id }) => <Projects tenant={id} />),
  page(
    "/t/:tenant/p/:project/instances",
    { ...tenant, title: "Instances", group: PROJECT, key: "v" },
    (place) => <Instances place={place} />,
  ),
  page(
    "/t/:tenant/p/:project/new-instance",
    { ...tenant, title: "Create an instance" },
    (place) => <Later load={ofProject("NewInstance", place)} />,
  ),
  page(
    "/t/:tenant/p/:project/networks",
    { ...tenant, title: "VPCs", group: PROJECT, key: "w" },
    (place) => <Vpcs place={place} />,
  ),
  page(
    "/t/:tenant/p/:project/floating-ips",
    { ...tenant, title: "Floating IPs", group: PROJECT, key: "f" },
    (place) => <FloatingIps place={place} />,
  ),
  page(
    "/t/:tenant/p/:project/images",
    { ...tenant, title: "Images of the project", group: PROJECT, key: "x" },
    (place) => <Images place={place} />,
  ),
  page(
    "/t/:tenant/p/:project/placement-groups",
    { ...tenant, title: "Placement groups", group: PROJECT, key: "l" },
    (place) => <Later load={ofProject("PlacementGroups", place)} />,
  ),
  page(
    "/t/:tenant/p/:project/webhooks",
    { ...tenant, title: "Webhooks", group: PROJECT, key: "h" },
    (place) => <Later load={ofProject("Webhooks", place)} />,
  ),
  page(
    "/t/:tenant/p/:project/quota",
    { ...tenant, title: "Quota", group: PROJECT, key: "q" },
    (place) => <Quota place={place} />,
  ),
  page(
    "/t/:tenant/p/:project/audit",
    { ...tenant, title: "Audit of the tenant", group: PROJECT, key: "z" },
    (place) => <Later load={audit(place.tenant)} />,
  ),
  page("/instances/:id", { ...both, title: "Instance" }, ({ id }) => <InstancePage id={id} />),
  page(
    "/instances/:id/console",
    { ...both, title: "Console" },
    ({ id }) => <Later load={one("InstanceConsole", id)} />,
  ),
  page(
    "/instances/:id/metrics",
    { ...both, title: "Metrics" },
    ({ id }) => <Later load={one("InstanceMetricsPage", id)} />,
  ),
  page("/instances/:id/screen", { ...both, title: "Screen" }, ({ id }) => <Later load={one("InstanceScreen", id)} />),
  page(
    "/instances/:id/snapshots",
    { ...both, title: "Snapshots" },
    ({ id }) => <Later load={one("InstanceSnapshots", id)} />,
  ),
  page(
    "/instances/:id/rebuild",
    { ...both, title: "Rebuild" },
    ({ id }) => <Later load={one("InstanceRebuild", id)} />,
  ),
  page("/vpcs/:id", { ...both, title: "VPC" }, ({ id }) => <Later load={one("VpcPage", id)} />),
  page("/nat-gateways/:id", { ...both, title: "NAT gateway" }, ({ id }) => <Later load={one("GatewayPage", id)} />),
  page("/webhooks/:id", { ...both, title: "Webhook" }, ({ id }) => <Later load={one("WebhookPage", id)} />),
  page("/operations", { ...both, title: "Operations", group: "Work", key: "r" }, () => <Operations />),
  page("/operations/:id", { ...both, title: "Operation" }, ({ id }) => <Operation id={id} />),
  page("/me", { ...both, title: "My keys and password", key: "k" }, () => <Later load={me} />),
];
