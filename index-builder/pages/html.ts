// Generates HTML pages with a content security policy that allows only the page's own script and style.
import { createHash } from "node:crypto";

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Returns JSON for a script element. The JSON is escaped, so that it cannot contain "</script" or "<!--". */
export function embeddedJson(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll(
    "\u2029",
    "\\u2029",
  );
}

export type Page = {
  readonly title: string;
  readonly style: string;
  readonly script: string | null;
  readonly body: string;
};

/** Returns a page in one file. The page's content security policy names the page's style and script by hash. */
export function pageHtml({ title, style, script, body }: Page): string {
  const policy = [
    "default-src 'none'",
    `style-src '${hashOf(style)}'`,
    ...(script === null ? [] : [`script-src '${hashOf(script)}'`]),
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
${body}
${script === null ? "" : `<script>${script}</script>\n`}</body>
</html>
`;
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
