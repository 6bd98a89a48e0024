import type { SiteSession } from "../../../lib/console-session.ts";
import type { Mailer } from "../../../platform/mail/create-mailer.ts";
import type { SignUpAdmission } from "../../abuse/index.ts";
import type { SiteDependencies } from "../site-dependencies.ts";
import type { BackgroundWork } from "./background-work.ts";
import type { Passwords } from "./password/create-passwords.ts";
import type { OidcProvider } from "./provider/oidc-provider.ts";
import type { Sessions } from "./session/sessions.ts";
import type { SiteCookies } from "./session/site-cookies.ts";
import type { OpenAccount, SignUpPolicy } from "./user/user.ts";

/** Keys outside the database: for sealed values, and for codes too short for a plain hash. */
export type FactorKeys = { totp: Buffer; backupCodes: Buffer };

export type SignInDependencies = SiteDependencies & {
  mailer: Mailer;
  cookies: SiteCookies;
  /** For work whose duration the caller must not observe. */
  background: BackgroundWork;
  passwords: Passwords;
  sessions: Sessions;
  keys: FactorKeys;
  providers: readonly OidcProvider[];
  /** Name shown by authenticators and authenticator apps. */
  serviceName: string;
  signUp: SignUpPolicy;
  openAccount: OpenAccount;
  /** Refuses abuse of sign-up by address, network and mail domain. */
  admission: SignUpAdmission;
  /** Whether an account opened from this address may get the welcome credit. */
  mayWelcome(address: string): Promise<boolean>;
  /** Logs the change and mails the owner, who may not have made it. */
  notifyChange(owner: Pick<SiteSession, "userId" | "email">, change: string): void;
};
