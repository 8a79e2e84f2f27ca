/** Says once, among the components of the OpenAPI document, what its operations repeat. */
import { STATUS_CODES } from "node:http";

interface Parameter {
  readonly name: string;
}

interface Response {
  readonly content?: Readonly<Record<string, { readonly schema: { readonly $ref?: string } }>>;
}

interface Operation {
  readonly parameters?: Parameter[];
  readonly responses: Record<string, Response>;
}

/** A part of an operation, with what holds it and what its component is called. */
interface Use {
  readonly holder: object;
  readonly key: string;
  readonly part: unknown;
  readonly name: string;
}

/** Replaces the parameters and answers that more than one operation has by references to components. */
export function shareRepeats(document: Record<string, unknown>): void {
  const operationsIn = (part: unknown): Operation[] =>
    Object.values(part as Record<string, Record<string, Operation>>).flatMap((item) => Object.values(item));
  const components = document["components"] as Record<string, Record<string, unknown>>;
  const operations = operationsIn(document["paths"]);
  const parameters = operations.flatMap(({ parameters: holder = [] }) =>
    Object.entries(holder).map(([key, part]) => ({ holder, key, part, name: parameterName(part) })),
  );
  const answered = [...operations, ...operationsIn(document["webhooks"])];
  const responses = answered.flatMap(({ responses: holder }) =>
    Object.entries(holder).map(([key, part]) => ({ holder, key, part, name: responseName(key, part) })),
  );
  components["parameters"] = { ...components["parameters"], ...share("parameters", parameters) };
  components["responses"] = share("responses", responses);
}

/** A component's name has no brackets. */
const parameterName = ({ name }: Parameter): string => name.replace("[]", "");

/** The schema's name for a success, the status in words for all else: `NotFound`. */
function responseName(status: string, { content = {} }: Response): string {
  const schema = status < "300" ? content["application/json"]?.schema.$ref : undefined;
  return schema?.replace("#/components/schemas/", "") ?? STATUS_CODES[status]!.replaceAll(/\W/g, "");
}

/** @returns the components. The form that most operations have gets the plain name, others a number too. */
function share(kind: string, uses: readonly Use[]): Record<string, unknown> {
  const shared: Record<string, unknown> = {};
  for (const [name, named] of Map.groupBy(uses, (use) => use.name)) {
    const forms = [...Map.groupBy(named, ({ part }) => JSON.stringify(part)).values()]
      .filter((form) => form.length > 1)
      .toSorted((one, other) => other.length - one.length);
    for (const [index, form] of forms.entries()) {
      const component = index === 0 ? name : `${name}${index + 1}`;
      shared[component] = form[0]!.part;
      for (const { holder, key } of form)
        Object.assign(holder, { [key]: { $ref: `#/components/${kind}/${component}` } });
    }
  }
  return shared;
}
