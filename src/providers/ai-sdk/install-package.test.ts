import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { installPackage } from "./install-package.ts";
import { findPackageFault } from "./load-package.ts";

let root: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "sluice-packages-"));
  // A data directory that does not exist yet.
  folder = join(root, "data", "packages");
});
afterEach(() => rmSync(root, { recursive: true }));

/** Puts a package where npm would. */
function place(
  at: string,
  manifest: { name: string; version: string; dependencies?: object; peerDependencies?: object },
) {
  const own = join(at, "node_modules", manifest.name);
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, "package.json"), JSON.stringify({ ...manifest, type: "module", exports: "./index.js" }));
  const model = 'languageModel: (modelId) => ({ specificationVersion: "v4", modelId })';
  writeFileSync(join(own, "index.js"), `export const createModels = () => ({ ${model} });`);
}

const dependOn = (version: string) => ({ dependencies: { "@ai-sdk/provider": version } });

/** An npm whose registry has these versions. */
function createNpm(versions: readonly object[]) {
  const asked: string[] = [];
  const runNpm = async (words: readonly string[], at: string): Promise<string> => {
    asked.push(words.join(" "));
    expect(existsSync(at)).toBe(true);
    if (words[0] === "view") return JSON.stringify(versions);
    const [, name = "", version = ""] = /^(.+)@(.+)$/.exec(words.at(-1) ?? "") ?? [];
    place(at, { name, version, ...dependOn("4.0.1") });
    return "";
  };
  return { asked, runNpm };
}

describe("of a registry's versions", () => {
  const versions = [
    { version: "1.0.0", ...dependOn("2.0.0") },
    { version: "2.0.0", ...dependOn("4.0.0") },
    { version: "2.1.0", ...dependOn("^4.0.3") },
    { version: "3.0.0", ...dependOn("5.0.0") },
  ];

  test("the newest compatible one is installed, exactly, and without running its scripts", async () => {
    const { asked, runNpm } = createNpm(versions);
    const installed = await installPackage({ spec: "acme-models", folder, runNpm });
    expect(installed).toEqual({ packageName: "acme-models", version: "2.1.0" });
    expect(asked[1]).toMatch(/^install --save-exact --ignore-scripts .* acme-models@2\.1\.0$/);
    expect(JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))).toMatchObject({ private: true });
  });

  test("a named one is installed without listing the others", async () => {
    const { asked, runNpm } = createNpm(versions);
    await installPackage({ spec: "@acme/models@2.0.0", folder, runNpm });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain("@acme/models@2.0.0");
  });

  test("none is installed if none is compatible", async () => {
    const { asked, runNpm } = createNpm(versions.slice(3));
    await expect(installPackage({ spec: "acme-models", folder, runNpm })).rejects.toThrow(
      "No version of acme-models is made for version 4 of @ai-sdk/provider.",
    );
    expect(asked).toHaveLength(1);
  });
});

describe("a package", () => {
  const find = () => findPackageFault({ packageName: "acme-models", packagesFolder: folder });

  test("that is missing is reported, and found once it is installed", () => {
    expect(find()).toMatchObject({ code: "missing-package", remedy: expect.stringContaining("upstream install") });
    place(folder, { name: "acme-models", version: "1.0.0" });
    expect(find()).toBeNull();
  });

  test.each([{ dependencies: { "@ai-sdk/provider": "3.0.1" } }, { peerDependencies: { "@ai-sdk/provider": ">=2" } }])(
    "for another version of the interface is incompatible: %j",
    (declared) => {
      place(folder, { name: "acme-models", version: "1.2.3", ...declared });
      expect(find()).toMatchObject({ code: "unfit-package", message: expect.stringContaining("acme-models 1.2.3") });
    },
  );

  test.each([{}, dependOn("4.0.27"), { peerDependencies: { "@ai-sdk/provider": "^4.1.0" } }])(
    "fits: %j",
    (declared) => {
      place(folder, { name: "acme-models", version: "1.2.3", ...declared });
      expect(find()).toBeNull();
    },
  );

  test("of Sluice's own is found without the folder", () => {
    expect(findPackageFault({ packageName: "@ai-sdk/anthropic", packagesFolder: folder })).toBeNull();
    expect(findPackageFault({ packageName: "@ai-sdk/anthropic", packagesFolder: null })).toBeNull();
  });
});
