// Shows one tenant with its projects, quotas and members.
import type { Project, Quota } from "../../src/contract/tenancy.ts";
import { type Action, run, useActions } from "../core/action.ts";
import { NOT_FOUND, Refusal, send } from "../core/client.ts";
import { opsctl, updates } from "../core/command.ts";
import { editing } from "../core/editing.ts";
import { needs, rootOnly } from "../core/session.ts";
import { exactBytes, parseBytes } from "../core/text.ts";
import { Actions } from "../parts/actions.tsx";
import { AsCommand, Copyable, Facts, Heading, Link, Problem, Refused, Section, When } from "../parts/basics.tsx";
import { UsageBars } from "../parts/usage.tsx";
import { useQuery } from "../parts/use-query.ts";
import { inProject } from "../tenant/place.ts";
import { projectsQuery, usageQuery } from "../tenant/project-queries.ts";
import { Members } from "./members.tsx";
import { NAMED_FIELDS, tenantPath, tenantQuery, type TenantRow } from "./tenants.tsx";

export function TenantPage({ id }: { readonly id: string }) {
  const read = useQuery(tenantQuery(id));
  const tenant = read.data;
  const projects = useQuery(projectsQuery(id));
  useActions(tenant == null ? [] : tenantActions(tenant, projects.data ?? []));
  const above = <Link to="/tenants">Tenants</Link>;
  if (tenant == null) {
    return (
      <>
        <Heading title="Tenant" above={above} />
        <Refused of={read} />
        {tenant === null && <Problem refusal={new Refusal(404, NOT_FOUND)} lookedFor={`tenant ${id}`} />}
      </>
    );
  }
  return (
    <>
      <Heading title={tenant.name} above={above}>
        <span class="dim">in {tenant.silo_name}</span>
        <Actions />
      </Heading>
      <Refused of={read} />
      <Facts
        of={{
          "Description": tenant.description,
          "UUID": <Copyable text={tenant.id} label="the UUID" />,
          "Created": <When at={tenant.created_at} />,
        }}
      />
      <Section title="Projects" count={projects.data?.length} refusal={projects.refusal}>
        {projects.data?.length === 0 && (
          <p class="dim">The tenant has no project. Create one to hold instances and networks.</p>
        )}
        {(projects.data ?? []).map((project) => <ProjectRow key={project.id} tenant={tenant} project={project} />)}
      </Section>
      <Members tenant={id} />
      <AsCommand line={opsctl("tenant show", [tenantPath(tenant)])} />
    </>
  );
}

const SIZE_HINT = "A size with its unit, such as 64 GiB";

function ProjectRow({ tenant, project }: { readonly tenant: TenantRow; readonly project: Project }) {
  const { data: usage } = useQuery(usageQuery(tenant.id, project.id));
  const limits = usage?.limits;
  const edit = () =>
    run({
      title: `Set the quota of ${project.name}`,
      button: "Set the quota",
      notice:
        "All four limits are needed; 0 permits nothing. A limit below the present usage refuses new resources; existing resources stay. A project without a quota has the limits of the settings quota.project_default.",
      fields: [
        { name: "cpu_limit", label: "vCPUs", type: "number", initial: String(limits?.cpu_limit ?? "") },
        {
          name: "memory_bytes",
          label: "Memory",
          type: "bytes",
          initial: limits?.memory_bytes == null ? "" : exactBytes(limits.memory_bytes),
          hint: SIZE_HINT,
        },
        {
          name: "disk_bytes",
          label: "Disk",
          type: "bytes",
          initial: limits?.disk_bytes == null ? "" : exactBytes(limits.disk_bytes),
          hint: SIZE_HINT,
        },
        { name: "instance_limit", label: "Instances", type: "number", initial: String(limits?.instance_limit ?? "") },
      ],
      refused: rootOnly(),
      cli: ({ cpu_limit, memory_bytes = "", disk_bytes = "", instance_limit }) =>
        opsctl("quota set", [`${tenantPath(tenant)}/${project.name}`], {
          "--cpu": cpu_limit,
          "--memory": memory_bytes.replaceAll(" ", ""),
          "--disk": disk_bytes.replaceAll(" ", ""),
          "--instances": instance_limit,
        }),
      send: async ({ cpu_limit, memory_bytes = "", disk_bytes = "", instance_limit }, key) => {
        await send<Quota>("PUT", `/v1/tenants/${tenant.id}/projects/${project.id}/quota`, {
          body: {
            cpu_limit: Number(cpu_limit),
            memory_bytes: parseBytes(memory_bytes),
            disk_bytes: parseBytes(disk_bytes),
            instance_limit: Number(instance_limit),
          },
          key,
        });
        return { said: `The quota of ${project.name} is set` };
      },
    });
  return (
    <div class="card">
      <div class="heading">
        <Link to={inProject({ tenant: tenant.id, project: project.id }, "instances")}>{project.name}</Link>
        <span class="dim">{project.description}</span>
        <div class="actions">
          <button type="button" onClick={edit} aria-disabled={rootOnly() !== null}>Set the quota</button>
        </div>
      </div>
      {usage !== undefined && <UsageBars usage={usage} />}
    </div>
  );
}

function tenantActions(tenant: TenantRow, projects: readonly Project[]): Action[] {
  const refused = rootOnly();
  return [
    {
      title: "Create a project",
      key: "c",
      button: "Create",
      fields: NAMED_FIELDS,
      refused,
      cli: ({ name = "", description }) =>
        opsctl("project create", [name || "NAME"], { "--tenant": tenantPath(tenant), "--description": description }),
      send: async ({ name, description }, key) => {
        await send("POST", `/v1/tenants/${tenant.id}/projects`, { body: { name, description }, key });
        return { said: `Project ${name} is created` };
      },
    },
    {
      title: "Create a user",
      button: "Create",
      fields: [{ name: "username", label: "User name" }, {
        name: "password",
        label: "Password",
        type: "secret",
        hint: "At least 8 characters",
      }],
      refused: needs("system-operate"),
      cli: ({ username = "" }) => opsctl("user create", [username || "NAME"], { "--tenant": tenantPath(tenant) }),
      send: async ({ username, password }, key) => {
        await send("POST", "/v1/system/users", { body: { username, password, tenant_id: tenant.id }, key });
        return { said: `User ${username} is created` };
      },
    },
    editing({
      title: "Rename or describe",
      key: "e",
      button: "Save",
      fields: NAMED_FIELDS.map((field) => ({
        ...field,
        initial: field.name === "name" ? tenant.name : tenant.description,
      })),
      refused,
      cli: ({ name, description }) =>
        opsctl("tenant update", [tenantPath(tenant)], updates({ "--name": name, "--description": description })),
      send: async (values, key) => {
        await send("PATCH", `/v1/silos/${tenant.silo_id}/tenants/${tenant.id}`, { body: values, key });
      },
    }),
    {
      title: "Delete the tenant",
      isDangerous: true,
      notice: projects.length === 0
        ? "Its users and keys are deleted too."
        : `The tenant still has ${projects.map(({ name }) => name).join(", ")}. Delete these projects first.`,
      fields: [{ name: "confirm", label: `Type ${tenant.name} to delete it`, mustBe: tenant.name }],
      refused,
      cli: () => opsctl("tenant delete", [tenantPath(tenant)]),
      send: async (_, key) => {
        await send("DELETE", `/v1/silos/${tenant.silo_id}/tenants/${tenant.id}`, { key });
        return { said: `Tenant ${tenant.name} is deleted`, to: "/tenants" };
      },
    },
  ];
}
