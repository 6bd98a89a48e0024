import { generateKeyPairSync, sign } from "node:crypto";

/** A key and a self-signed certificate for one host name, trusted by the test only. */
export function createSelfSignedCertificate(host: string): { key: string; cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = sequence(objectId("2a8648ce3d040302"));
  const name = sequence(tagged(0x31, sequence(objectId("550403"), tagged(0x0c, Buffer.from(host)))));
  const validity = sequence(tagged(0x18, Buffer.from("20200101000000Z")), tagged(0x18, Buffer.from("21200101000000Z")));
  const alternativeNames = sequence(tagged(0x82, Buffer.from(host)));
  const extension = sequence(objectId("551d11"), tagged(0x04, alternativeNames));
  const content = sequence(
    tagged(0xa0, integer(2)),
    integer(1),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(extension)),
  );
  const signature = tagged(0x03, Buffer.concat([Buffer.from([0]), sign("sha256", content, privateKey)]));
  const certificate = sequence(content, algorithm, signature).toString("base64");
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----\n`,
  };
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

function integer(value: number): Buffer {
  return tagged(0x02, Buffer.from([value]));
}

function objectId(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, "hex"));
}

/** DER encoding: a tag, a length, the content. */
function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const head = length < 128 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}
