import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { findFreePort } from "../gateway-process.ts";
import { repositoryDir } from "../repository-files.ts";
import { writeTaskCatalog } from "../tasks/task-catalog.ts";
import { openTaskGateway, type TaskGateway } from "../tasks/task-gateway.ts";

type Fields = Record<string, unknown>;

/** A gateway at the address of its links, with the sandbox's models beside those of fake vendors. */
export async function openCliGateway(): Promise<{ stage: TaskGateway; site: string }> {
  const port = await findFreePort();
  const site = `http://127.0.0.1:${port}`;
  const settings = { port: Number(port), site_url: site, base_url: `${site}/v1` };
  const sandbox = parse(readFileSync(join(repositoryDir, "catalogs/sandbox.yaml"), "utf8")) as Record<string, Fields[]>;
  const isNew = (name: unknown): boolean => name !== "sandbox-image";
  const stage = await openTaskGateway({
    settings,
    catalog: (upstream) =>
      writeTaskCatalog(upstream, {
        models: sandbox.models?.filter(({ id }) => isNew(id)) ?? [],
        prices: sandbox.prices?.filter(({ model }) => isNew(model)) ?? [],
      }),
  });
  return { stage, site };
}
