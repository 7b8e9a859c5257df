// Finds the project that a command must name. If the tenant has one project, no command needs its name.
import type { Project } from "../../src/contract/tenancy.ts";
import type { Query } from "../core/store.ts";
import { place } from "../tenant/place.ts";
import { projectsQuery } from "../tenant/project-queries.ts";
import { useQuery } from "./use-query.ts";

const NO_PROJECTS: Query<Project[]> = { key: "no projects", kinds: [], read: () => Promise.resolve([]) };

/** Returns the name of the shown project, or null if no command needs the name. Reads nothing unless `isNeeded`. */
export function useNamedProject(isNeeded: boolean): string | null {
  const at = place.value;
  const { data: projects = [] } = useQuery(isNeeded && at !== null ? projectsQuery(at.tenant) : NO_PROJECTS);
  if (projects.length < 2) return null;
  return projects.find(({ id }) => id === at?.project)?.name ?? null;
}
