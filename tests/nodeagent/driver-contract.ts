// Defines tests of the behaviour that every driver must have. The test file of each driver opens a machine and
// registers these tests. The tests share one VM and run in order, from its creation to its removal.
import { afterAll, beforeAll, describe, test, type TestContext } from "vitest";
import { changesContract } from "./driver-contract-changes.ts";
import { creationContract } from "./driver-contract-creation.ts";
import { disksContract } from "./driver-contract-disks.ts";
import { removalContract } from "./driver-contract-removal.ts";
import { type Contract, type ContractMachine, openSubject, type Subject } from "./driver-subject.ts";

/**
 * Registers the tests.
 * @param check skips a test on a machine that lacks something for the driver
 */
export function driverContract(
  name: string,
  open: () => Promise<ContractMachine>,
  check: (context: Pick<TestContext, "skip">) => void = () => {},
): void {
  describe(`the ${name} driver`, () => {
    let machine: ContractMachine | undefined;
    let subject: Subject;

    beforeAll(async () => {
      let lacks = false;
      check({ skip: (condition?: unknown) => void (lacks ||= condition === true) } as Pick<TestContext, "skip">);
      if (lacks) return;
      machine = await open();
      subject = await openSubject(machine);
    });
    afterAll(() => machine?.remove());

    const contract: Contract = (title, body) =>
      test(title, async (context) => {
        check(context);
        await body(subject);
      });
    creationContract(contract);
    disksContract(contract);
    changesContract(contract);
    removalContract(contract);
  });
}
