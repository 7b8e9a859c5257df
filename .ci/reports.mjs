// Reads the JSON reports of vitest for .ci/run.
//
//   node reports.mjs failed-files REPORT     prints the test files that failed, one on each line
//   node reports.mjs second-run REPORT       counts the tests that failed in the first run as passed
//   node reports.mjs summary REPORT...       prints each failed test with its error, each test that passed only in the
//                                            second run, the skipped tests with their reasons, and the counts
//   node reports.mjs all-skipped REPORT      exits with 1 if the run has tests and all of them were skipped
import { existsSync, readFileSync, writeFileSync } from "node:fs";

/** Characters to print of an error: enough to see its cause, but few, because some CI systems keep only the end. */
const SAID_MAX = 1_500;

/** The first line of the error of an exceeded time limit, which may come from a busy machine. */
const TIME_LIMIT = /timed out|in time\b/;

const [command, ...paths] = process.argv.slice(2);
const reports = paths.map((path) => JSON.parse(readFileSync(path, "utf8")));

const failedFiles = ({ testResults }) => testResults.filter(({ status }) => status === "failed");

/** Returns the text of each failure, and whether it was an exceeded time limit. */
function failures(report) {
  return failedFiles(report).flatMap(({ name, message, assertionResults }) => {
    const failed = assertionResults.filter(({ status }) => status === "failed");
    // A file that cannot be loaded has a message and no failed test.
    const errors = failed.length === 0
      ? [[message ?? ""]]
      : failed.map(({ fullName, failureMessages }) => [failureMessages.join("\n  "), `${fullName}\n  `]);
    return errors.map(([error, test = ""]) => ({
      text: `${name}\n  ${(test + error).slice(0, SAID_MAX)}`,
      late: TIME_LIMIT.test(error.split("\n")[0]),
    }));
  });
}

const sum = (name) => reports.reduce((total, report) => total + report[name], 0);

switch (command) {
  case "failed-files":
    for (const { name } of reports.flatMap(failedFiles)) console.log(name);
    break;
  case "second-run":
    for (const [index, report] of reports.entries()) {
      report.secondRun = failures(report);
      report.numPassedTests += report.numFailedTests;
      report.numFailedTests = 0;
      for (const file of failedFiles(report)) file.status = "passed";
      writeFileSync(paths[index], JSON.stringify(report));
    }
    break;
  case "all-skipped":
    process.exitCode = sum("numPassedTests") + sum("numFailedTests") === 0 && sum("numTotalTests") > 0 ? 1 : 0;
    break;
  default: {
    const repeated = reports.flatMap(({ secondRun }) => secondRun ?? []);
    printSkipped();
    for (const { text, late } of repeated) {
      const cause = late ? "exceeded a time limit" : "had another cause, which may be a race";
      console.log(`note: passed only in the second run; the first failure ${cause}: ${text}`);
    }
    for (const { text } of reports.flatMap(failures)) console.log(`failed: ${text}`);
    const counts = [`${sum("numPassedTests")} passed`, `${sum("numFailedTests")} failed`];
    counts.push(`${sum("numPendingTests")} skipped`, `${repeated.length} passed only in the second run`);
    console.log(`${counts.join(", ")} (${repeated.filter(({ late }) => !late).length} may be races)`);
  }
}

/** Prints the number of skipped tests for each reason. skipped-reporter.mjs wrote the reasons beside the reports. */
function printSkipped() {
  const files = paths.map((path) => `${path}.skipped`).filter(existsSync);
  const skipped = files.flatMap((path) => JSON.parse(readFileSync(path, "utf8")));
  const reasons = skipped.map(({ file, reason }) => reason ?? `no reason given in ${file}`);
  for (const reason of new Set(reasons)) {
    console.log(`skipped ${reasons.filter((each) => each === reason).length}: ${reason}`);
  }
}
