// Shows the projects of a tenant, the quota of a project, and the start page of a tenant's user.
import type { Project } from "../../src/contract/tenancy.ts";
import { useEffect } from "preact/hooks";
import { send } from "../core/client.ts";
import { opsctl, tenantctl } from "../core/command.ts";
import { go } from "../core/router.ts";
import { labelAction } from "../core/labels.ts";
import { writersOnly } from "../core/session.ts";
import { Link } from "../parts/basics.tsx";
import { createdColumn, LABELS_COLUMN } from "../parts/columns.tsx";
import type { Column } from "../parts/list.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { projectsQuery, usageQuery } from "./project-queries.ts";
import { UsageBars } from "../parts/usage.tsx";
import { AsCommand, Heading, Problem } from "../parts/basics.tsx";
import { useQuery } from "../parts/use-query.ts";
import { inProject, keep, type Place } from "./place.ts";

export function Projects({ tenant }: { readonly tenant: string }) {
  const columns: readonly Column<Project>[] = [
    {
      name: "name",
      title: "Project",
      sorts: true,
      text: ({ name }) => name,
      cell: ({ id, name }) => <Link to={inProject({ tenant, project: id }, "instances")} tabIndex={-1}>{name}</Link>,
    },
    {
      name: "description",
      title: "Description",
      isWideOnly: true,
      text: ({ description }) => description,
      cell: ({ description }) => description,
    },
    LABELS_COLUMN,
    createdColumn(),
  ];
  return (
    <ListPage<Project>
      title="Projects"
      noun="project"
      query={projectsQuery(tenant)}
      columns={columns}
      idOf={({ id }) => id}
      open={({ id }) => inProject({ tenant, project: id }, "instances")}
      actionsOf={({ id, name, labels }) => [
        labelAction({
          path: `/v1/tenants/${tenant}/projects/${id}`,
          argv: ["tenantctl", "project", "update", name],
          labels,
          name,
        }),
      ]}
      actions={[{
        title: "Create a project",
        key: "c",
        button: "Create",
        fields: [{ name: "name", label: "Name" }, { name: "description", label: "Description", isOptional: true }],
        refused: writersOnly(),
        cli: ({ name, description }) =>
          opsctl("project create", [name || "NAME"], { "--tenant": tenant, "--description": description }),
        send: async ({ name, description }, key) => {
          const made = await send<Project>("POST", `/v1/tenants/${tenant}/projects`, {
            body: { name, description },
            key,
          });
          return { said: `Project ${name} is created`, to: inProject({ tenant, project: made.id }, "instances") };
        },
      }]}
      empty={<p>The tenant has no project. A project holds instances and VPCs.</p>}
      cli={tenantctl("project list")}
    />
  );
}

/** Remembers the place that a page shows, so that the navigation leads back to it. */
export function useKept(place: Place): void {
  useEffect(() => keep(place), [place.tenant, place.project]);
}

/** Remembers the project of the object that a page shows, as soon as the page has read the object. */
export function useProjectOf(object: { readonly tenant_id: string; readonly project_id: string } | undefined): void {
  const { tenant_id: tenant, project_id: project } = object ?? {};
  useEffect(() => {
    if (tenant !== undefined && project !== undefined) keep({ tenant, project });
  }, [tenant, project]);
}

export function Quota({ place }: { readonly place: Place }) {
  useKept(place);
  const { data: usage, refusal } = useQuery(usageQuery(place.tenant, place.project));
  return (
    <>
      <Heading title="Quota" />
      {refusal !== undefined && <Problem refusal={refusal} />}
      {usage !== undefined && <UsageBars usage={usage} />}
      <AsCommand line={tenantctl("quota show")} />
    </>
  );
}

/** The start page of a tenant's user: the tenant's only project, or the list of projects. */
export function TenantStart({ tenant }: { readonly tenant: string }) {
  const { data } = useQuery(projectsQuery(tenant));
  useEffect(() => {
    if (data === undefined) return;
    const [only] = data;
    go(
      only !== undefined && data.length === 1 ? inProject({ tenant, project: only.id }, "instances") : `/t/${tenant}`,
      "replace",
    );
  }, [data]);
  return <Projects tenant={tenant} />;
}
