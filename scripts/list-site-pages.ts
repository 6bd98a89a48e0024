import { readFileSync } from "node:fs";
import { join } from "node:path";

export type SitePage = {
  /** In the server's route syntax: `/console/tasks/:id`. */
  path: string;
  /** The page's file and its layouts' files, relative to the site's folder. */
  files: readonly string[];
};

const routerFile = join(import.meta.dirname, "../web/src/router.tsx");
const development = "pages/design/";

/** Lists the pages from the site's router, so served and measured pages are complete. */
export function listSitePages(): SitePage[] {
  const [, ...blocks] = readFileSync(routerFile, "utf8").split(/(?=const \w+ = createRoute\()|(?=^ +createRoute\()/m);
  const routes = blocks.map((block) => ({
    name: /^const (\w+)/.exec(block)?.[1] ?? "",
    parent: /getParentRoute: \(\) => (\w+)/.exec(block)?.[1] ?? "",
    // A layout has no path.
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
