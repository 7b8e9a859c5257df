import type { Project } from "../../../src/contract/tenancy.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../open-io.ts";
import { lineOf } from "../record/line.ts";
import { NAME_HELP } from "../record/scope.ts";
import { labeledOptions, labeledPatch } from "../record/update.ts";
import { projectPath, projectText } from "./project.ts";

export function update(): AnyCommand {
  const made = command("update", "Change the name, description or labels of a project", "shop --label team=web");
  return labeledOptions(made.argument("<project>", NAME_HELP)).action(withIo(async (io, ...given) => {
    const { argument, options } = lineOf(given);
    const body = labeledPatch(options);
    const project = await io.send<Project>({ method: "PATCH", path: await projectPath(io, argument), body });
    io.print(project, projectText(project));
  }));
}
