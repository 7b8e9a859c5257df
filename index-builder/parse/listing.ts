// Parses directory listings of web servers (Apache tables, nginx <pre>). The parser reads the targets of links, because
// both servers truncate long link texts.
import { Parser } from "htmlparser2";
import { unreadable } from "../fault.ts";

/** The largest number of links in a listing, more than any vendor has. */
const LINKS_MAX = 20_000;

/**
 * Returns the names that a listing links to, percent-decoded and in the order of the listing: "10/" or "image.qcow2".
 * Skips sort links, parent folders and links to other places.
 * @throws VendorFault unreadable if the document has no links or more than LINKS_MAX
 */
export function parseListing(what: string, html: string): string[] {
  const names = new Set<string>();
  let links = 0;
  const parser = new Parser({
    onopentag(tag, attributes) {
      if (tag !== "a" || attributes.href === undefined) return;
      if (++links > LINKS_MAX) throw unreadable(what, `it has more than ${LINKS_MAX} links`);
      const name = relativeName(attributes.href);
      if (name !== null) names.add(name);
    },
  });
  parser.write(html);
  parser.end();
  if (links === 0) throw unreadable(what, "it is not a directory listing: it has no links");
  return [...names];
}

function relativeName(href: string): string | null {
  if (!/^(?:\.\/)?[^/?#:]+\/?$/.test(href)) return null;
  try {
    const name = decodeURIComponent(href.replace(/^\.\//, ""));
    return name === "../" || name === ".." || /[/\\]./.test(name) ? null : name;
  } catch {
    return null;
  }
}
