// The tenants' pages, and the pages that both worlds share.
import { page, type PageRow } from "../core/page-row.ts";
import { Audit } from "../operator/audit.tsx";
import { Operation, Operations } from "../operator/operations.tsx";
import { FloatingIps } from "./floating-ips.tsx";
import { Images } from "./images.tsx";
import { InstancePage } from "./instance.tsx";
import { InstanceConsole } from "./instance-console.tsx";
import { InstanceMetricsPage } from "./instance-metrics.tsx";
import { InstanceScreen } from "./instance-screen.tsx";
import { Instances } from "./instances.tsx";
import { Me } from "./me.tsx";
import { NewInstance } from "./new-instance.tsx";
import { Projects, Quota } from "./projects.tsx";
import { VpcPage, Vpcs } from "./vpcs.tsx";

const PROJECT = "Project";
const tenant = { audience: "tenant" } as const;
const both = { audience: "both" } as const;

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
    (place) => <NewInstance place={place} />,
  ),
  page(
    "/t/:tenant/p/:project/networks",
    { ...tenant, title: "Networks", group: PROJECT, key: "w" },
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
    "/t/:tenant/p/:project/quota",
    { ...tenant, title: "Quota", group: PROJECT, key: "q" },
    (place) => <Quota place={place} />,
  ),
  page(
    "/t/:tenant/p/:project/audit",
    { ...tenant, title: "Audit of the tenant", group: PROJECT, key: "z" },
    (place) => <Audit tenant={place.tenant} />,
  ),
  page("/instances/:id", { ...both, title: "Instance" }, ({ id }) => <InstancePage id={id} />),
  page("/instances/:id/console", { ...both, title: "Console" }, ({ id }) => <InstanceConsole id={id} />),
  page("/instances/:id/metrics", { ...both, title: "Metrics" }, ({ id }) => <InstanceMetricsPage id={id} />),
  page("/instances/:id/screen", { ...both, title: "Screen" }, ({ id }) => <InstanceScreen id={id} />),
  page("/vpcs/:id", { ...both, title: "VPC" }, ({ id }) => <VpcPage id={id} />),
  page("/operations", { ...both, title: "Operations", group: "Work", key: "r" }, () => <Operations />),
  page("/operations/:id", { ...both, title: "Operation" }, ({ id }) => <Operation id={id} />),
  page("/me", { ...both, title: "My keys and password", key: "k" }, () => <Me />),
];
