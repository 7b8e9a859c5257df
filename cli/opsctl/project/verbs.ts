import type { Project } from "../../../src/contract/tenancy.ts";
import type { AnyCommand } from "../../framework.ts";
import { list, remove, show, update } from "../record/verbs.ts";
import { create } from "./create.ts";
import { PROJECT, type ProjectInTenant } from "./project.ts";

export function projectVerbs(): AnyCommand[] {
  return [
    list(PROJECT),
    show(PROJECT),
    create(),
    update<ProjectInTenant, Project>(PROJECT, {
      sample: "--name store",
      changed: (row, project) => ({ ...row, project }),
    }),
    remove(PROJECT),
  ];
}
