import { readFileSync } from "node:fs";
import { join } from "node:path";

export type SitePage = {
  /** As routes of the server are written: `/console/tasks/:id`. */
  path: string;
  /** Its file and those of the layouts around it, from the site's folder. */
  files: readonly string[];
};

const routerFile = join(import.meta.dirname, "../web/src/router.tsx");
const development = "pages/design/";

/** Every page that the site's router loads by itself, so that none can be forgotten where pages are served or measured. */
export function listSitePages(): SitePage[] {
  const [, ...blocks] = readFileSync(routerFile, "utf8").split(/(?=const \w+ = createRoute\()|(?=^ +createRoute\()/m);
  const routes = blocks.map((block) => ({
    name: /^const (\w+)/.exec(block)?.[1] ?? "",
    parent: /getParentRoute: \(\) => (\w+)/.exec(block)?.[1] ?? "",
    // A layout has none.
    path: /path: "([^"]*)"/.exec(block)?.[1] ?? null,
    file: /import\("\.\/(pages\/[^"]+)"\)/.exec(block)?.[1] ?? null,
  }));
  type Route = (typeof routes)[number];
  const climb = (route: Route): Route[] => {
    const parent = routes.find(({ name }) => name === route.parent);
    return parent === undefined ? [route] : [...climb(parent), route];
  };
  return routes
    .filter(({ path, file }) => path !== null && file !== null && !file.startsWith(development))
    .map((page) => {
      const way = climb(page);
      return {
        path: writePath(way.map(({ path }) => path ?? "").join("/")),
        files: way.flatMap(({ file }) => (file === null ? [] : [`src/${file}`])),
      };
    });
}

function writePath(path: string): string {
  const words = path.split("/").filter((word) => word !== "");
  return `/${words.map((word) => (word === "$" ? "*" : word.replace("$", ":"))).join("/")}`;
}
