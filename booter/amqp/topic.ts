/**
 * Returns whether a binding's pattern matches a routing key. `*` matches one word, and `#` matches any number of words.
 */
export function topicMatches(pattern: string, key: string): boolean {
  return matches(pattern.split("."), key.split("."));
}

function matches(pattern: readonly string[], key: readonly string[]): boolean {
  // reach[j] is true if the words of the pattern so far match the first j words of the key. This method needs linear
  // space and no backtracking.
  let reach = Array.from({ length: key.length + 1 }, (_, at) => at === 0);
  for (const word of pattern) {
    const next = Array.from({ length: key.length + 1 }, () => false);
    for (let at = 0; at <= key.length; at++) {
      if (word === "#") next[at] = reach[at]! || (at > 0 && next[at - 1]!);
      else next[at] = at > 0 && reach[at - 1]! && (word === "*" || word === key[at - 1]);
    }
    reach = next;
  }
  return reach[key.length]!;
}
