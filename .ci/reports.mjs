// Reads the JSON reports of vitest for .ci/run.
//
//   node reports.mjs failed-files REPORT     prints the test files that failed, one on each line
//   node reports.mjs second-run REPORT       prints what failed at first, and counts it as passed from now on
//   node reports.mjs summary REPORT...       prints each failed test with what it said, and the counts
import { readFileSync, writeFileSync } from "node:fs";

/** Enough of an error to know its cause, in characters: the end of a long output is all that some CI systems keep. */
const SAID_MAX = 1_500;

const [command, ...paths] = process.argv.slice(2);
const reports = paths.map((path) => JSON.parse(readFileSync(path, "utf8")));

const failedFiles = ({ testResults }) => testResults.filter(({ status }) => status === "failed");

function failures(report) {
  return failedFiles(report).flatMap(({ name, message, assertionResults }) => {
    const failed = assertionResults.filter(({ status }) => status === "failed");
    // A file that cannot be loaded has a message and no failed test.
    const said = failed.length === 0
      ? [message ?? ""]
      : failed.map(({ fullName, failureMessages }) => `${fullName}\n  ${failureMessages.join("\n  ")}`);
    return said.map((each) => `${name}\n  ${each.slice(0, SAID_MAX)}`);
  });
}

const sum = (name) => reports.reduce((total, report) => total + report[name], 0);

switch (command) {
  case "failed-files":
    for (const { name } of reports.flatMap(failedFiles)) console.log(name);
    break;
  case "second-run":
    for (const [index, report] of reports.entries()) {
      for (const each of failures(report)) console.log(`note: failed at first, and passed when run again: ${each}`);
      report.numPassedTests += report.numFailedTests;
      report.numFailedTests = 0;
      for (const file of failedFiles(report)) file.status = "passed";
      writeFileSync(paths[index], JSON.stringify(report));
    }
    break;
  default:
    for (const each of reports.flatMap(failures)) console.log(`failed: ${each}`);
    console.log(`${sum("numPassedTests")} passed, ${sum("numFailedTests")} failed`);
}
