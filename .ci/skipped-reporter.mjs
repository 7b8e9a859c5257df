// A reporter of vitest for .ci/run. Writes each skipped test with its reason to the file SKIPPED_REPORT; the JSON report
// of vitest has no reasons. A test of a skipped group has no reason of its own.
import { writeFileSync } from "node:fs";
import process from "node:process";

export default class SkippedReporter {
  onTestRunEnd(modules) {
    const skipped = modules.flatMap((module) =>
      [...module.children.allTests("skipped")].map((test) => ({
        file: module.relativeModuleId,
        name: test.fullName,
        reason: test.result().note ?? null,
      }))
    );
    if (process.env.SKIPPED_REPORT) writeFileSync(process.env.SKIPPED_REPORT, JSON.stringify(skipped));
  }
}
