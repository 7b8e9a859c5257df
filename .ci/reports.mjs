// Reads the JSON reports of vitest for .ci/run.
//
//   node reports.mjs failed-files REPORT     prints the test files that failed, one on each line
//   node reports.mjs second-run REPORT       prints the tests that failed in the first run, and counts them as passed
//   node reports.mjs summary REPORT...       prints each failed test with its error, and the counts
import { readFileSync, writeFileSync } from "node:fs";

/** Characters to print of an error: enough to see its cause, but few, because some CI systems keep only the end. */
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
      for (const each of failures(report)) console.log(`note: failed in the first run, passed in the second: ${each}`);
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
