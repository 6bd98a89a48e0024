import { AppError } from "../../../platform/errors/app-error.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { pathParams } from "../../../platform/http/path-params.ts";
import { hookPath } from "../hook-address.ts";
import { type HookDependencies, receiveHook } from "./receive-hook.ts";

/** Some vendors send the whole job, with its logs. */
const bodyBytesMax = 256 * 1024;

/** Where vendors call back. Unauthenticated: the address is a secret between the vendor and us. */
export async function addHookRoutes(http: HttpServer, dependencies: HookDependencies): Promise<void> {
  await http.register(async (hooks: HttpServer) => {
    // The signature covers the raw bytes, so the body must not be parsed first.
    hooks.removeAllContentTypeParsers();
    hooks.addContentTypeParser<Buffer>("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    const options = { bodyLimit: bodyBytesMax, schema: { hide: true, params: pathParams({ token: "vendorHook" }) } };
    // Before the body is read, so that strangers cannot make us buffer one.
    hooks.addHook("onRequest", async (request) => {
      const { token } = request.params as { token?: string };
      if (dependencies.addresses.read(token ?? "") === null) throw createNotOurs();
    });
    hooks.post(`${hookPath}/:token`, options, async (request, reply) => {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const outcome = await receiveHook(dependencies, request.params.token, { headers: request.headers, body });
      reply.header("cache-control", "no-store");
      switch (outcome.kind) {
        case "unknown":
          throw createNotOurs();
        case "forged":
          throw new AppError("invalid_parameter", "The signature is invalid or too old.", { param: "signature" });
        case "echoed":
          return { [outcome.field]: outcome.value };
        case "received":
          return { received: true };
      }
    });
  });
}

function createNotOurs(): AppError {
  return new AppError("not_found", "Nothing calls back here.");
}
