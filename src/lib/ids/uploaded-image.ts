// Builds and parses the source of an uploaded image. It has the form `berth:ID`, where ID names the stored bytes. Users
// cannot choose such a source, because the sources in their requests must be http or https.
const SCHEME = "berth:";
const UPLOADED = /^berth:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** Returns the source of the image that was made from this upload. */
export function uploadedUrl(id: string): string {
  return `${SCHEME}${id}`;
}

/** Returns the id of the stored bytes, or null if the image was not uploaded. */
export function uploadedId(source_url: string | null): string | null {
  return UPLOADED.exec(source_url ?? "")?.[1] ?? null;
}
