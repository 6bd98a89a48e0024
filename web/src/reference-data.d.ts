/** The build writes these from the OpenAPI document and the guide (`pages/reference/build/bundle-reference.ts`). */
declare module "virtual:reference" {
  export const areas: import("./api/reference-document.ts").AreaEntry[];
  export const loaders: Record<
    string,
    () => Promise<{ operations: import("./api/reference-document.ts").Operation[] }>
  >;
}

declare module "virtual:docs-index" {
  export const entries: import("./api/reference-document.ts").DocsEntry[];
}

declare module "virtual:first-call" {
  export const firstCall: import("./api/reference-document.ts").Operation["samples"];
}
