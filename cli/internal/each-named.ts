import { Failure, reworded } from "./failure.ts";
import { plainText } from "./plain-text.ts";

/**
 * Runs the work for each name in order and stops at the first failure. If there are several names, the failure contains
 * the name for which the work failed.
 */
export async function eachNamed(names: readonly string[], work: (name: string) => Promise<void>): Promise<void> {
  for (const name of names) {
    await work(name).catch((error) => {
      const is_named = names.length > 1 && error instanceof Failure && error.message !== "";
      throw is_named ? reworded(error, `${plainText(name)}: ${error.message}`) : error;
    });
  }
}
