// Reads the API description for tests. Returns one entry for each route, and replaces references by their schemas.

export type Schema = {
  readonly type?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly maxItems?: number;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly $ref?: string;
};

export type Parameter = { readonly name: string; readonly in: string; readonly schema: Schema };

export type RouteDescription = {
  /** The route, as `METHOD /path/{parameter}`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: Schema | null;
  /** The statuses of its answers, such as "200" and "404". */
  readonly statuses: readonly string[];
  /** Whether a request may omit the body. */
  readonly bodyOptional: boolean;
};

type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};
type Operation = {
  readonly responses: Readonly<Record<string, unknown>>;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
};

export function readRoutes(document: Document): RouteDescription[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([word, { parameters = [], requestBody, responses }]) => {
      const method = word.toUpperCase();
      const body = requestBody?.content["application/json"]?.schema;
      return {
        name: `${method} ${path}`,
        method,
        path,
        parameters: parameters.map((each) => ({ ...each, schema: resolved(each.schema, document) })),
        body: body === undefined ? null : resolved(body, document),
        statuses: Object.keys(responses),
        bodyOptional: requestBody?.required !== true,
      };
    })
  );
}

/**
 * Replaces references by their schemas at every level. The recursion ends, because no schema of this API refers to
 * itself.
 */
function resolved(schema: Schema, document: Document): Schema {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split("/").at(-1) ?? "";
    const target = document.components.schemas[name];
    if (target === undefined) throw new Error(`${schema.$ref} is not in the description`);
    return resolved(target, document);
  }
  const { properties, items, allOf } = schema;
  const merged = allOf?.length === 1 && allOf[0] !== undefined
    ? { ...resolved(allOf[0], document), ...schema }
    : schema;
  return {
    ...merged,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, each]) => [name, resolved(each, document)]),
      ),
    }),
    ...(items && { items: resolved(items, document) }),
  };
}
