import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

type CeremonyOptions = { challenge: string };
type CeremonyTwist = {
  /** The origin that the authenticator signs. */
  origin?: string;
  host?: string;
  /** Whether it verified the user by fingerprint, face or PIN. */
  isUserVerified?: boolean;
  signCount?: number;
  challenge?: string;
};

const presentFlag = 0x01;
const verifiedFlag = 0x04;
const attestedFlag = 0x40;

/** A passkey in memory: the responses of a browser and its authenticator, in their own wire format. */
export function createSoftAuthenticator({ origin, host }: { origin: string; host: string }) {
  const credentialId = randomBytes(32);
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  let signCount = 0;

  function presentClientData(type: string, options: CeremonyOptions, twist: CeremonyTwist): Buffer {
    const challenge = twist.challenge ?? options.challenge;
    return Buffer.from(JSON.stringify({ type, challenge, origin: twist.origin ?? origin, crossOrigin: false }));
  }

  function presentAuthenticatorData(twist: CeremonyTwist, attested: Buffer | null): Buffer {
    signCount = twist.signCount ?? signCount + 1;
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(signCount);
    const flags =
      presentFlag | (twist.isUserVerified === false ? 0 : verifiedFlag) | (attested === null ? 0 : attestedFlag);
    const hostHash = createHash("sha256")
      .update(twist.host ?? host)
      .digest();
    return Buffer.concat([hostHash, Buffer.from([flags]), counter, attested ?? Buffer.alloc(0)]);
  }

  const common = { id: credentialId.toString("base64url"), rawId: credentialId.toString("base64url") };
  return {
    make(options: CeremonyOptions, twist: CeremonyTwist = {}) {
      const clientData = presentClientData("webauthn.create", options, twist);
      const idLength = Buffer.alloc(2);
      idLength.writeUInt16BE(credentialId.length);
      const attested = Buffer.concat([Buffer.alloc(16), idLength, credentialId, presentCoseKey(publicKey)]);
      const authenticatorData = presentAuthenticatorData(twist, attested);
      const attestation = cborMap([
        [cborText("fmt"), cborText("none")],
        [cborText("attStmt"), cborMap([])],
        [cborText("authData"), cborBytes(authenticatorData)],
      ]);
      return {
        ...common,
        type: "public-key",
        clientExtensionResults: {},
        authenticatorAttachment: "platform",
        response: {
          clientDataJSON: clientData.toString("base64url"),
          attestationObject: attestation.toString("base64url"),
          transports: ["internal"],
        },
      };
    },
    use(options: CeremonyOptions, twist: CeremonyTwist & { signer?: KeyObject } = {}) {
      const clientData = presentClientData("webauthn.get", options, twist);
      const authenticatorData = presentAuthenticatorData(twist, null);
      const signed = Buffer.concat([authenticatorData, createHash("sha256").update(clientData).digest()]);
      return {
        ...common,
        type: "public-key",
        clientExtensionResults: {},
        response: {
          clientDataJSON: clientData.toString("base64url"),
          authenticatorData: authenticatorData.toString("base64url"),
          signature: sign("sha256", signed, twist.signer ?? privateKey).toString("base64url"),
        },
      };
    },
  };
}

/** COSE: an elliptic key on P-256 for ES256. */
function presentCoseKey(publicKey: KeyObject): Buffer {
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  return cborMap([
    [cborInteger(1), cborInteger(2)],
    [cborInteger(3), cborInteger(-7)],
    [cborInteger(-1), cborInteger(1)],
    [cborInteger(-2), cborBytes(Buffer.from(x, "base64url"))],
    [cborInteger(-3), cborBytes(Buffer.from(y, "base64url"))],
  ]);
}

function cborHead(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  if (value < 256) return Buffer.from([(major << 5) | 24, value]);
  return Buffer.from([(major << 5) | 25, value >> 8, value & 255]);
}

function cborInteger(value: number): Buffer {
  return value >= 0 ? cborHead(0, value) : cborHead(1, -1 - value);
}

function cborBytes(bytes: Buffer): Buffer {
  return Buffer.concat([cborHead(2, bytes.length), bytes]);
}

function cborText(text: string): Buffer {
  return Buffer.concat([cborHead(3, text.length), Buffer.from(text)]);
}

function cborMap(entries: readonly (readonly [Buffer, Buffer])[]): Buffer {
  return Buffer.concat([cborHead(5, entries.length), ...entries.flat()]);
}
