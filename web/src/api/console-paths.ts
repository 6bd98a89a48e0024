// Written by `npm run generate` from docs/api/console-openapi.json. Change the routes' schemas, not this file.
// The names at the top follow what openapi-fetch expects.

export type paths = {
  "/site": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            sign_up: "open" | "invite" | "closed";
            providers: ({
              id: string;
              name: string;
            })[];
            mail: "smtp" | "outbox";
            has_outbox: boolean;
            currency: string;
            base_url: string;
            payments: "stripe" | "none";
            payment_amount_min: string;
            payment_amount_max: string;
            payment_amounts: (string)[];
            has_auto_top_up: boolean;
            content_log_days: number;
            support_contact: string | null;
          };
        } };
      };
    };
  };
  "/session": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            user: {
              id: string;
              email: string;
              name: string | null;
              is_email_verified: boolean;
              has_password: boolean;
              has_totp: boolean;
              passkey_count: number;
            };
            account: {
              id: string;
              time_zone: string;
            };
            operator: {
              role: "operator" | "reader";
              has_second_factor: boolean;
            } | null;
            view: {
              id: string;
              ends_at: string;
            } | null;
            session: {
              id: string;
              created_at: string;
              fresh_until: string;
            };
          };
        } };
      };
    };
  };
  "/outbox/open": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          secret: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            kind: "accepted";
          };
        } };
      };
    };
  };
  "/outbox": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            data: ({
              id: string;
              to: string;
              subject: string;
              text: string;
              links: (string)[];
              at: string;
            })[];
          };
        } };
      };
    };
  };
  "/sign-up": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          email: string;
          password: string;
          invite?: string;
        };
      } };
      responses: {
        202: { content: {
          "application/json": {
            kind: "verify-email";
          };
        } };
      };
    };
  };
  "/email/verify": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          token: string;
          password?: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            kind: "signed-in";
          };
        } };
      };
    };
  };
  "/email/resend": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          email: string;
        };
      } };
      responses: {
        202: { content: {
          "application/json": {
            kind: "accepted";
          };
        } };
      };
    };
  };
  "/sign-in": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          email: string;
          password: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            kind: "signed-in";
          } | {
            kind: "second-factor";
            methods: ("totp" | "backup-code")[];
          } | {
            kind: "verify-email";
          };
        } };
      };
    };
  };
  "/sign-in/totp": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          code: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            kind: "signed-in";
          };
        } };
      };
    };
  };
  "/sign-in/backup-code": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          code: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            kind: "signed-in";
          };
        } };
      };
    };
  };
  "/sign-in/passkey/options": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Record<never, never> | null;
      } };
      responses: {
        200: { content: {
          "application/json": Record<string, unknown>;
        } };
      };
    };
  };
  "/sign-in/passkey": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          response: {
            id: string;
            rawId: string;
            type: "public-key";
            response: {
              clientDataJSON: string;
              authenticatorData: string;
              signature: string;
            };
          };
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            kind: "signed-in";
          };
        } };
      };
    };
  };
  "/reauthenticate": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          password?: string;
          code?: string;
          passkey?: {
            id: string;
            rawId: string;
            type: "public-key";
            response: {
              clientDataJSON: string;
              authenticatorData: string;
              signature: string;
            };
          };
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            fresh_until: string;
          };
        } };
      };
    };
  };
  "/sign-out": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Record<never, never> | null;
      } };
      responses: {
        204: { content?: never };
      };
    };
  };
  "/sessions": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            data: ({
              id: string;
              is_current: boolean;
              created_at: string;
              last_seen_at: string;
              user_agent: string;
              address: string;
            })[];
          };
        } };
      };
    };
    delete: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        204: { content?: never };
      };
    };
  };
  "/sessions/{id}": {
    delete: {
      parameters: {
        path: {
          id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        204: { content?: never };
      };
    };
  };
  "/password/forgot": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          email: string;
        };
      } };
      responses: {
        202: { content: {
          "application/json": {
            kind: "accepted";
          };
        } };
      };
    };
  };
  "/password/reset": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          token: string;
          password: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            kind: "accepted";
          };
        } };
      };
    };
  };
  "/password": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          current_password?: string;
          new_password: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            kind: "accepted";
          };
        } };
      };
    };
  };
  "/totp": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Record<never, never> | null;
      } };
      responses: {
        200: { content: {
          "application/json": {
            secret: string;
            uri: string;
          };
        } };
      };
    };
    delete: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        204: { content?: never };
      };
    };
  };
  "/totp/confirm": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          code: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            backup_codes: (string)[];
          };
        } };
      };
    };
  };
  "/totp/backup-codes": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Record<never, never> | null;
      } };
      responses: {
        200: { content: {
          "application/json": {
            backup_codes: (string)[];
          };
        } };
      };
    };
  };
  "/passkeys/options": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Record<never, never> | null;
      } };
      responses: {
        200: { content: {
          "application/json": Record<string, unknown>;
        } };
      };
    };
  };
  "/passkeys": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          name: string;
          response: {
            id: string;
            rawId: string;
            type: "public-key";
            response: {
              clientDataJSON: string;
              attestationObject: string;
              transports?: (string)[];
            };
          };
        };
      } };
      responses: {
        201: { content: {
          "application/json": {
            id: string;
            name: string;
            created_at: string;
            last_used_at: string | null;
          };
        } };
      };
    };
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            data: ({
              id: string;
              name: string;
              created_at: string;
              last_used_at: string | null;
            })[];
          };
        } };
      };
    };
  };
  "/passkeys/{id}": {
    delete: {
      parameters: {
        path: {
          id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        204: { content?: never };
      };
    };
  };
  "/services": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            data: ({
              id: string;
              name: string;
              connected_at: string | null;
              is_offered: boolean;
            })[];
          };
        } };
      };
    };
  };
  "/services/{id}/connect": {
    post: {
      parameters: {
        path: {
          id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Record<never, never> | null;
      } };
      responses: {
        200: { content: {
          "application/json": {
            location: string;
          };
        } };
      };
    };
  };
  "/services/{id}": {
    delete: {
      parameters: {
        path: {
          id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        204: { content?: never };
      };
    };
  };
  "/connect/requests/{id}": {
    get: {
      parameters: {
        path: {
          id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            client: string;
            redirect_host: string | null;
            replaces: {
              created_at: string;
              last_four: string;
            } | null;
            budget: {
              amount: string;
              period: "total" | "day" | "week" | "month";
              spent: string;
            } | null;
            expires_at: string;
            uses_code: boolean;
            kind: "browser" | "device";
            asked: {
              address: string;
              is_own_address: boolean;
              user_agent: string;
              at: string;
            } | null;
          };
        } };
      };
    };
  };
  "/connect/requests/{id}/approve": {
    post: {
      parameters: {
        path: {
          id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          expires_in_days?: number;
          budget?: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            kind: "browser" | "device";
            callback_url?: string;
          };
        } };
      };
    };
  };
  "/connect/requests/{id}/deny": {
    post: {
      parameters: {
        path: {
          id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Record<never, never> | null;
      } };
      responses: {
        200: { content: {
          "application/json": {
            callback_url: string | null;
          };
        } };
      };
    };
  };
  "/connect/requests/{id}/status": {
    get: {
      parameters: {
        path: {
          id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            state: "waiting" | "delivered" | "denied" | "expired";
          };
        } };
      };
    };
  };
  "/connect/device/lookup": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          user_code: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            request_id: string;
          };
        } };
      };
    };
  };
  "/connected-clients": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            data: ({
              id: string;
              client: string;
              created_at: string;
              expires_at: string | null;
              last_used_at: string | null;
              last_four: string;
            })[];
          };
        } };
      };
    };
  };
  "/connected-clients/{id}": {
    delete: {
      parameters: {
        path: {
          id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        204: { content?: never };
      };
    };
  };
  "/keys": {
    get: {
      parameters: {
        query: {
          limit: number;
          after?: string;
          status?: "live" | "ended";
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "api_key";
              id: string;
              name: string;
              kind: "secret" | "client" | "console";
              preview: string | null;
              created: number;
              last_used: number | null;
              expires_at: string | null;
              revoked_at: string | null;
              models: (string)[] | null;
              endpoints: (string)[] | null;
              addresses: (string)[] | null;
              budget: {
                amount: string;
                period: "total" | "day" | "week" | "month";
                spent: string;
                resets_at: string | null;
              } | null;
              limits: {
                requests_per_minute: number | null;
                tokens_per_minute: number | null;
                concurrent_requests: number | null;
                tasks_in_flight: number | null;
              };
              content_log: boolean;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          name: string;
          expires_at?: string | null;
          models?: (string)[] | null;
          endpoints?: (string)[] | null;
          addresses?: (string)[] | null;
          budget?: {
            amount: string;
            period: "total" | "day" | "week" | "month";
          } | null;
          limits?: {
            requests_per_minute?: number | null;
            tokens_per_minute?: number | null;
            concurrent_requests?: number | null;
            tasks_in_flight?: number | null;
          };
          content_log?: boolean;
        };
      } };
      responses: {
        201: { content: {
          "application/json": {
            object: "api_key";
            id: string;
            name: string;
            kind: "secret" | "client" | "console";
            preview: string | null;
            created: number;
            last_used: number | null;
            expires_at: string | null;
            revoked_at: string | null;
            models: (string)[] | null;
            endpoints: (string)[] | null;
            addresses: (string)[] | null;
            budget: {
              amount: string;
              period: "total" | "day" | "week" | "month";
              spent: string;
              resets_at: string | null;
            } | null;
            limits: {
              requests_per_minute: number | null;
              tokens_per_minute: number | null;
              concurrent_requests: number | null;
              tasks_in_flight: number | null;
            };
            content_log: boolean;
            key: string;
          };
        } };
      };
    };
  };
  "/keys/{id}": {
    get: {
      parameters: {
        path: {
          id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "api_key";
            id: string;
            name: string;
            kind: "secret" | "client" | "console";
            preview: string | null;
            created: number;
            last_used: number | null;
            expires_at: string | null;
            revoked_at: string | null;
            models: (string)[] | null;
            endpoints: (string)[] | null;
            addresses: (string)[] | null;
            budget: {
              amount: string;
              period: "total" | "day" | "week" | "month";
              spent: string;
              resets_at: string | null;
            } | null;
            limits: {
              requests_per_minute: number | null;
              tokens_per_minute: number | null;
              concurrent_requests: number | null;
              tasks_in_flight: number | null;
            };
            content_log: boolean;
          };
        } };
      };
    };
    patch: {
      parameters: {
        path: {
          id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          name?: string;
          expires_at?: string | null;
          models?: (string)[] | null;
          endpoints?: (string)[] | null;
          addresses?: (string)[] | null;
          budget?: {
            amount: string;
            period: "total" | "day" | "week" | "month";
          } | null;
          limits?: {
            requests_per_minute?: number | null;
            tokens_per_minute?: number | null;
            concurrent_requests?: number | null;
            tasks_in_flight?: number | null;
          };
          content_log?: boolean;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "api_key";
            id: string;
            name: string;
            kind: "secret" | "client" | "console";
            preview: string | null;
            created: number;
            last_used: number | null;
            expires_at: string | null;
            revoked_at: string | null;
            models: (string)[] | null;
            endpoints: (string)[] | null;
            addresses: (string)[] | null;
            budget: {
              amount: string;
              period: "total" | "day" | "week" | "month";
              spent: string;
              resets_at: string | null;
            } | null;
            limits: {
              requests_per_minute: number | null;
              tokens_per_minute: number | null;
              concurrent_requests: number | null;
              tasks_in_flight: number | null;
            };
            content_log: boolean;
          };
        } };
      };
    };
    delete: {
      parameters: {
        path: {
          id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "api_key";
            id: string;
            name: string;
            kind: "secret" | "client" | "console";
            preview: string | null;
            created: number;
            last_used: number | null;
            expires_at: string | null;
            revoked_at: string | null;
            models: (string)[] | null;
            endpoints: (string)[] | null;
            addresses: (string)[] | null;
            budget: {
              amount: string;
              period: "total" | "day" | "week" | "month";
              spent: string;
              resets_at: string | null;
            } | null;
            limits: {
              requests_per_minute: number | null;
              tokens_per_minute: number | null;
              concurrent_requests: number | null;
              tasks_in_flight: number | null;
            };
            content_log: boolean;
          };
        } };
      };
    };
  };
  "/keys/{id}/rotate": {
    post: {
      parameters: {
        path: {
          id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          overlap_minutes?: number;
        } | null;
      } };
      responses: {
        201: { content: {
          "application/json": {
            object: "api_key";
            id: string;
            name: string;
            kind: "secret" | "client" | "console";
            preview: string | null;
            created: number;
            last_used: number | null;
            expires_at: string | null;
            revoked_at: string | null;
            models: (string)[] | null;
            endpoints: (string)[] | null;
            addresses: (string)[] | null;
            budget: {
              amount: string;
              period: "total" | "day" | "week" | "month";
              spent: string;
              resets_at: string | null;
            } | null;
            limits: {
              requests_per_minute: number | null;
              tokens_per_minute: number | null;
              concurrent_requests: number | null;
              tasks_in_flight: number | null;
            };
            content_log: boolean;
            key: string;
          };
        } };
      };
    };
  };
  "/account": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "account";
            id: string;
            email: string;
            name: string | null;
            time_zone: string;
            plan: {
              id: string;
              name: string;
              period: "day" | "week" | "month";
              quotas: {
                text: number;
                image: number;
                video: number;
              };
            } | null;
            limits: {
              requests_per_minute: number;
              tokens_per_minute: number;
              concurrent_requests: number;
              tasks_in_flight: number;
            };
            created: number;
          };
        } };
      };
    };
    patch: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          name?: string;
          time_zone?: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            user: {
              id: string;
              email: string;
              name: string | null;
              is_email_verified: boolean;
              has_password: boolean;
              has_totp: boolean;
              passkey_count: number;
            };
            account: {
              id: string;
              time_zone: string;
            };
            operator: {
              role: "operator" | "reader";
              has_second_factor: boolean;
            } | null;
            view: {
              id: string;
              ends_at: string;
            } | null;
            session: {
              id: string;
              created_at: string;
              fresh_until: string;
            };
          };
        } };
      };
    };
  };
  "/activity": {
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "activity";
              id: string;
              created_at: string;
              by: "person" | "key" | "operator" | "service";
              action: string;
              subject: string | null;
              address: string | null;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/codes/redeem": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          code: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "redeemed_code";
            kind: "cash" | "gift";
            amount: string;
            currency: string;
            expires_at: string | null;
            balance: string;
          };
        } };
      };
    };
  };
  "/event_inbox": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "event_inbox";
            is_open: boolean;
            opened_at: string | null;
          };
        } };
      };
    };
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Record<never, never> | null;
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "event_inbox";
            is_open: boolean;
            opened_at: string | null;
          };
        } };
      };
    };
    delete: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "event_inbox";
            is_open: boolean;
            opened_at: string | null;
          };
        } };
      };
    };
  };
  "/first_call": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "first_call";
            state: "waiting" | "arrived" | "succeeded";
            key_used_at: string | null;
            refusal: {
              status: number;
              code: string;
            } | null;
          };
        } };
      };
    };
  };
  "/showcase": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "showcase";
            models: ({
              id: string;
              name: string;
              type: "chat" | "image" | "video" | "avatar" | "drama" | "speech" | "embedding" | "transcription";
              description: string;
              capabilities: ("chat" | "streaming" | "tools" | "vision" | "json_schema" | "reasoning" | "text_to_image" | "image_to_image" | "text_to_video" | "image_to_video" | "audio_driven_avatar" | "script_generation" | "role_analysis" | "storyboard" | "drama_video" | "text_to_speech" | "text_embedding" | "dimensions" | "transcription" | "translation" | "timestamps" | "diarization")[];
              status: "available" | "degraded" | "unavailable" | "deprecated";
              prices: ({
                model: string;
                billing_type: "token" | "per_call" | "duration";
                price?: string;
                input_price?: string;
                output_price?: string;
                cached_input_price?: string;
                cache_write_5m_price?: string;
                cache_write_1h_price?: string;
                audio_input_price?: string;
                reasoning_price?: string;
                audio_output_price?: string;
                unit: string;
                items?: ({
                  item: string;
                  price: string;
                  above_input_tokens?: number;
                  size?: string | number | boolean;
                  resolution?: string | number | boolean;
                  quality?: string | number | boolean;
                  background?: string | number | boolean;
                  input_fidelity?: string | number | boolean;
                  input?: string | number | boolean;
                  duration?: string | number | boolean;
                  aspect_ratio?: string | number | boolean;
                  frame_rate?: string | number | boolean;
                  audio?: string | number | boolean;
                  voice?: string | number | boolean;
                })[];
                tier_scope?: "call" | "part";
                service_tiers?: Record<string, string>;
                multiplier?: string;
                minimum_charge?: string;
                capability?: "chat" | "streaming" | "tools" | "vision" | "json_schema" | "reasoning" | "text_to_image" | "image_to_image" | "text_to_video" | "image_to_video" | "audio_driven_avatar" | "script_generation" | "role_analysis" | "storyboard" | "drama_video" | "text_to_speech" | "text_embedding" | "dimensions" | "transcription" | "translation" | "timestamps" | "diarization";
              })[];
            })[];
            currency: string;
            status: {
              state: "ok" | "degraded" | "down";
              models_available: number;
              models_total: number;
            };
            base_url: string;
            sign_up: "open" | "invite" | "closed";
          };
        } };
      };
    };
  };
  "/status": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "status";
            state: "ok" | "degraded" | "down";
            checks: ({
              name: "api" | "database" | "workers" | "chat" | "image" | "video" | "avatar" | "drama" | "speech" | "embedding" | "transcription";
              state: "ok" | "degraded" | "down";
            })[];
          };
        } };
      };
    };
  };
  "/changes": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "text/event-stream": string;
        } };
      };
    };
  };
  "/uptime": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "uptime";
            state: "ok" | "degraded" | "down";
            at: string;
            first_day: string;
            models: ({
              id: string;
              name: string;
              state: "ok" | "degraded" | "down";
              uptime: number | null;
              days: ({
                state: "none" | "few" | "ok" | "degraded" | "down";
                uptime: number | null;
              })[];
              type: string;
            })[];
            endpoints: ({
              id: string;
              name: string;
              state: "ok" | "degraded" | "down";
              uptime: number | null;
              days: ({
                state: "none" | "few" | "ok" | "degraded" | "down";
                uptime: number | null;
              })[];
            })[];
            incidents: ({
              id: string;
              title: string;
              state: "investigating" | "identified" | "monitoring" | "resolved";
              models: (string)[];
              began_at: string;
              ended_at: string | null;
              updates: ({
                state: "investigating" | "identified" | "monitoring" | "resolved";
                message: string;
                created_at: string;
              })[];
            })[];
          };
        } };
      };
    };
  };
  "/checkouts": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          amount: string;
          save_card?: boolean;
        };
      } };
      responses: {
        201: { content: {
          "application/json": {
            object: "checkout";
            id: string;
            amount: string;
            currency: string;
            state: "open" | "paid" | "expired" | "failed" | "mismatched";
            url: string | null;
            created: number;
            expires_at: string;
            paid_at: string | null;
            is_automatic: boolean;
            reversals: ({
              kind: "refund" | "dispute";
              amount: string;
              in_effect: boolean;
            })[];
          };
        } };
      };
    };
    get: {
      parameters: {
        query: {
          limit: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "checkout";
              id: string;
              amount: string;
              currency: string;
              state: "open" | "paid" | "expired" | "failed" | "mismatched";
              url: string | null;
              created: number;
              expires_at: string;
              paid_at: string | null;
              is_automatic: boolean;
              reversals: ({
                kind: "refund" | "dispute";
                amount: string;
                in_effect: boolean;
              })[];
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/checkouts/{id}": {
    get: {
      parameters: {
        path: {
          id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "checkout";
            id: string;
            amount: string;
            currency: string;
            state: "open" | "paid" | "expired" | "failed" | "mismatched";
            url: string | null;
            created: number;
            expires_at: string;
            paid_at: string | null;
            is_automatic: boolean;
            reversals: ({
              kind: "refund" | "dispute";
              amount: string;
              in_effect: boolean;
            })[];
          };
        } };
      };
    };
  };
  "/debt": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "debt";
            amount: string;
            currency: string;
            data: ({
              checkout_id: string;
              kind: "refund" | "dispute";
              amount: string;
            })[];
          };
        } };
      };
    };
  };
  "/auto_top_up": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "auto_top_up";
            state: "off" | "on" | "stopped";
            stop_reason: "declined" | "reversed" | "review" | null;
            threshold: string | null;
            amount: string | null;
            month_max: string | null;
            charged_this_month: string;
            currency: string;
            not_before: string | null;
            card: {
              brand: string;
              last4: string;
              exp_month: number;
              exp_year: number;
            } | null;
          };
        } };
      };
    };
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          threshold: string;
          amount: string;
          month_max: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "auto_top_up";
            state: "off" | "on" | "stopped";
            stop_reason: "declined" | "reversed" | "review" | null;
            threshold: string | null;
            amount: string | null;
            month_max: string | null;
            charged_this_month: string;
            currency: string;
            not_before: string | null;
            card: {
              brand: string;
              last4: string;
              exp_month: number;
              exp_year: number;
            } | null;
          };
        } };
      };
    };
    delete: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "auto_top_up";
            state: "off" | "on" | "stopped";
            stop_reason: "declined" | "reversed" | "review" | null;
            threshold: string | null;
            amount: string | null;
            month_max: string | null;
            charged_this_month: string;
            currency: string;
            not_before: string | null;
            card: {
              brand: string;
              last4: string;
              exp_month: number;
              exp_year: number;
            } | null;
          };
        } };
      };
    };
  };
  "/saved_card": {
    delete: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "auto_top_up";
            state: "off" | "on" | "stopped";
            stop_reason: "declined" | "reversed" | "review" | null;
            threshold: string | null;
            amount: string | null;
            month_max: string | null;
            charged_this_month: string;
            currency: string;
            not_before: string | null;
            card: {
              brand: string;
              last4: string;
              exp_month: number;
              exp_year: number;
            } | null;
          };
        } };
      };
    };
  };
  "/billing_details": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "billing_details";
            has_documents: boolean;
            legal_name: string | null;
            address: string | null;
            country: string | null;
            tax_id: string | null;
            purchase_order: string | null;
          };
        } };
      };
    };
    patch: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          legal_name?: string | null;
          address?: string | null;
          country?: string | null;
          tax_id?: string | null;
          purchase_order?: string | null;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "billing_details";
            has_documents: boolean;
            legal_name: string | null;
            address: string | null;
            country: string | null;
            tax_id: string | null;
            purchase_order: string | null;
          };
        } };
      };
    };
  };
  "/documents": {
    get: {
      parameters: {
        query: {
          limit: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "document";
              id: string;
              kind: "invoice" | "credit_note" | "statement";
              number: string;
              issued: number;
              currency: string;
              total: string;
              tax: string | null;
              checkout_id: string | null;
              corrects: string | null;
              month: string | null;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/documents/{id}/pdf": {
    get: {
      parameters: {
        path: {
          id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/pdf": string;
        } };
      };
    };
  };
  "/alerts": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "alerts";
            low_balance: string | null;
            budget_percent: number | null;
            currency: string;
          };
        } };
      };
    };
    patch: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          low_balance?: string | null;
          budget_percent?: number | null;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "alerts";
            low_balance: string | null;
            budget_percent: number | null;
            currency: string;
          };
        } };
      };
    };
  };
  "/plans": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "plans";
            currency: string;
            data: ({
              id: string;
              name: string;
              price: string;
              period: "day" | "week" | "month";
              quotas: {
                text: number;
                image: number;
                video: number;
              };
            })[];
            own: {
              id: string;
              price: string;
              ends_at: string | null;
              renews: boolean;
            } | null;
            is_managed: boolean;
          };
        } };
      };
    };
  };
  "/plans/own": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          plan_id: string;
          price: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "plans";
            currency: string;
            data: ({
              id: string;
              name: string;
              price: string;
              period: "day" | "week" | "month";
              quotas: {
                text: number;
                image: number;
                video: number;
              };
            })[];
            own: {
              id: string;
              price: string;
              ends_at: string | null;
              renews: boolean;
            } | null;
            is_managed: boolean;
          };
        } };
      };
    };
    delete: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "plans";
            currency: string;
            data: ({
              id: string;
              name: string;
              price: string;
              period: "day" | "week" | "month";
              quotas: {
                text: number;
                image: number;
                video: number;
              };
            })[];
            own: {
              id: string;
              price: string;
              ends_at: string | null;
              renews: boolean;
            } | null;
            is_managed: boolean;
          };
        } };
      };
    };
  };
  "/search": {
    get: {
      parameters: {
        query: {
          q: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "request" | "task" | "charge" | "ledger_entry" | "key" | "file" | "event" | "webhook_endpoint";
              id: string;
              name: string;
              status: string | null;
              task_id: string | null;
              created_at: string;
            })[];
          };
        } };
      };
    };
  };
  "/models": {
    get: {
      parameters: {
        query?: {
          type?: "chat" | "image" | "video" | "avatar" | "drama" | "speech" | "embedding" | "transcription";
          capability?: "chat" | "streaming" | "tools" | "vision" | "json_schema" | "reasoning" | "text_to_image" | "image_to_image" | "text_to_video" | "image_to_video" | "audio_driven_avatar" | "script_generation" | "role_analysis" | "storyboard" | "drama_video" | "text_to_speech" | "text_embedding" | "dimensions" | "transcription" | "translation" | "timestamps" | "diarization";
          status?: "available" | "degraded" | "unavailable" | "deprecated";
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              id: string;
              aliases?: (string)[];
              object: "model";
              created: number;
              owned_by: string;
              name: string;
              type: "chat" | "image" | "video" | "avatar" | "drama" | "speech" | "embedding" | "transcription";
              logo: string;
              description: string;
              advantages: (string)[];
              scenarios: (string)[];
              status: "available" | "degraded" | "unavailable" | "deprecated";
              capabilities: ("chat" | "streaming" | "tools" | "vision" | "json_schema" | "reasoning" | "text_to_image" | "image_to_image" | "text_to_video" | "image_to_video" | "audio_driven_avatar" | "script_generation" | "role_analysis" | "storyboard" | "drama_video" | "text_to_speech" | "text_embedding" | "dimensions" | "transcription" | "translation" | "timestamps" | "diarization")[];
              shutdown_date?: string;
            })[];
          };
        } };
      };
    };
  };
  "/models/{model_id}": {
    get: {
      parameters: {
        path: {
          model_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            aliases?: (string)[];
            object: "model";
            created: number;
            owned_by: string;
            name: string;
            type: "chat" | "image" | "video" | "avatar" | "drama" | "speech" | "embedding" | "transcription";
            logo: string;
            description: string;
            advantages: (string)[];
            scenarios: (string)[];
            status: "available" | "degraded" | "unavailable" | "deprecated";
            capabilities: ("chat" | "streaming" | "tools" | "vision" | "json_schema" | "reasoning" | "text_to_image" | "image_to_image" | "text_to_video" | "image_to_video" | "audio_driven_avatar" | "script_generation" | "role_analysis" | "storyboard" | "drama_video" | "text_to_speech" | "text_embedding" | "dimensions" | "transcription" | "translation" | "timestamps" | "diarization")[];
            shutdown_date?: string;
            limits: {
              durations?: (number)[];
              aspect_ratios?: (string)[];
              max_prompt_length?: number;
              sizes?: (string)[];
              max_n?: number;
              max_input_images?: number;
              voices?: (string)[];
              response_formats?: (string)[];
              context_window?: number;
              max_output_tokens?: number;
              max_inputs?: number;
              max_dimensions?: number;
              max_audio_seconds?: number;
              max_file_bytes?: number;
              last_image?: true;
              resolution?: (string | number | boolean)[];
              quality?: (string | number | boolean)[];
              style?: (string | number | boolean)[];
              background?: (string | number | boolean)[];
              moderation?: (string | number | boolean)[];
              input_fidelity?: (string | number | boolean)[];
              frame_rate?: (string | number | boolean)[];
              audio?: (string | number | boolean)[];
              seed?: true;
              negative_prompt?: true;
              prompt?: true;
              instructions?: true;
            };
          };
        } };
      };
    };
  };
  "/pricing/models": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            currency: string;
            data: ({
              model: string;
              billing_type: "token" | "per_call" | "duration";
              price?: string;
              input_price?: string;
              output_price?: string;
              cached_input_price?: string;
              cache_write_5m_price?: string;
              cache_write_1h_price?: string;
              audio_input_price?: string;
              reasoning_price?: string;
              audio_output_price?: string;
              unit: string;
              items?: ({
                item: string;
                price: string;
                above_input_tokens?: number;
                size?: string | number | boolean;
                resolution?: string | number | boolean;
                quality?: string | number | boolean;
                background?: string | number | boolean;
                input_fidelity?: string | number | boolean;
                input?: string | number | boolean;
                duration?: string | number | boolean;
                aspect_ratio?: string | number | boolean;
                frame_rate?: string | number | boolean;
                audio?: string | number | boolean;
                voice?: string | number | boolean;
              })[];
              tier_scope?: "call" | "part";
              service_tiers?: Record<string, string>;
              multiplier?: string;
              minimum_charge?: string;
              capability?: "chat" | "streaming" | "tools" | "vision" | "json_schema" | "reasoning" | "text_to_image" | "image_to_image" | "text_to_video" | "image_to_video" | "audio_driven_avatar" | "script_generation" | "role_analysis" | "storyboard" | "drama_video" | "text_to_speech" | "text_embedding" | "dimensions" | "transcription" | "translation" | "timestamps" | "diarization";
            })[];
            effective_at: string;
          };
        } };
      };
    };
  };
  "/quote": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          path: string;
          request: Record<never, never>;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "quote";
            id: string;
            path: string;
            model: string;
            currency: string;
            max_charge: string;
            quota: {
              kind: "text" | "image" | "video";
              units: number;
            };
            estimate: {
              charge: string;
              basis: "exact_price" | "usual_answer" | "input_tokens" | "recording_length" | "estimated_length";
              input_tokens?: number;
              output_tokens?: number;
              seconds?: number;
            };
            created: number;
            expires_at: string;
          };
        } };
      };
    };
  };
  "/chat/completions": {
    post: {
      parameters: {
        header?: {
          "idempotency-key"?: string;
          "x-quote-id"?: string;
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          model: string;
          messages: ({
            role: "system";
            content: string | ({
              type: "text";
              text: string;
              prompt_cache_breakpoint?: Record<string, unknown> | null;
              cache_control?: Record<string, unknown> | null;
            })[];
            name?: string | null;
            cache_control?: Record<string, unknown> | null;
          } | {
            role: "developer";
            content: string | ({
              type: "text";
              text: string;
              prompt_cache_breakpoint?: Record<string, unknown> | null;
              cache_control?: Record<string, unknown> | null;
            })[];
            name?: string | null;
            cache_control?: Record<string, unknown> | null;
          } | {
            role: "user";
            content: string | ({
              type: "text";
              text: string;
              prompt_cache_breakpoint?: Record<string, unknown> | null;
              cache_control?: Record<string, unknown> | null;
            } | {
              type: "image_url";
              image_url: {
                url: string;
                detail?: "auto" | "low" | "high" | "original" | null;
              };
              prompt_cache_breakpoint?: Record<string, unknown> | null;
              cache_control?: Record<string, unknown> | null;
            } | {
              type: "input_audio";
              input_audio: {
                data: string;
                format: "wav" | "mp3";
              };
              prompt_cache_breakpoint?: Record<string, unknown> | null;
              cache_control?: Record<string, unknown> | null;
            } | {
              type: "file";
              file: {
                file_data?: string | null;
                file_id?: string | null;
                filename?: string | null;
              };
              prompt_cache_breakpoint?: Record<string, unknown> | null;
              cache_control?: Record<string, unknown> | null;
            })[];
            name?: string | null;
            cache_control?: Record<string, unknown> | null;
          } | {
            role: "assistant";
            content?: string | ({
              type: "text";
              text: string;
              prompt_cache_breakpoint?: Record<string, unknown> | null;
              cache_control?: Record<string, unknown> | null;
            } | {
              type: "refusal";
              refusal: string;
              prompt_cache_breakpoint?: Record<string, unknown> | null;
              cache_control?: Record<string, unknown> | null;
            })[] | null;
            name?: string | null;
            refusal?: string | null;
            tool_calls?: ({
              type: "function";
              id: string;
              index?: number;
              provider_specific_fields?: unknown;
              caller?: unknown;
              function: {
                name: string;
                arguments: string;
                parsed_arguments?: unknown;
                provider_specific_fields?: unknown;
              };
            } | {
              type: "custom";
              id: string;
              index?: number;
              provider_specific_fields?: unknown;
              caller?: unknown;
              custom: {
                name: string;
                input: string;
              };
            })[] | null;
            function_call?: {
              name: string;
              arguments: string;
              parsed_arguments?: unknown;
              provider_specific_fields?: unknown;
            } | null;
            audio?: Record<string, unknown> | null;
            annotations?: (Record<string, unknown>)[] | null;
            reasoning?: string | null;
            reasoning_content?: string | null;
            reasoning_details?: (Record<string, unknown>)[] | null;
            prefix?: boolean | null;
            cache_control?: Record<string, unknown> | null;
            parsed?: unknown;
            provider_specific_fields?: unknown;
            thinking_blocks?: unknown;
          } | {
            role: "tool";
            content: string | ({
              type: "text";
              text: string;
              prompt_cache_breakpoint?: Record<string, unknown> | null;
              cache_control?: Record<string, unknown> | null;
            })[];
            tool_call_id: string;
            name?: string | null;
            cache_control?: Record<string, unknown> | null;
          } | {
            role: "function";
            content?: string | null;
            name: string;
          })[];
          stream?: boolean | null;
          stream_options?: {
            include_usage?: boolean | null;
            include_obfuscation?: boolean | null;
          } | null;
          tools?: ({
            type: "function";
            function: {
              name: string;
              description?: string | null;
              parameters?: Record<string, unknown> | null;
              strict?: boolean | null;
            };
            cache_control?: Record<string, unknown> | null;
          } | {
            type: "custom";
            custom: {
              name: string;
              description?: string | null;
              format?: Record<string, unknown> | null;
            };
            cache_control?: Record<string, unknown> | null;
          })[] | null;
          tool_choice?: "none" | "auto" | "required" | {
            type: "function";
            function: {
              name: string;
            };
          } | {
            type: "custom";
            custom: {
              name: string;
            };
          } | {
            type: "allowed_tools";
            allowed_tools: {
              mode: "auto" | "required";
              tools: (Record<string, unknown>)[];
            };
          } | null;
          parallel_tool_calls?: boolean | null;
          response_format?: {
            type: "text";
          } | {
            type: "json_object";
          } | {
            type: "json_schema";
            json_schema: {
              name: string;
              description?: string | null;
              schema?: Record<string, unknown> | null;
              strict?: boolean | null;
            };
          } | null;
          n?: number | null;
          max_completion_tokens?: number | null;
          max_tokens?: number | null;
          stop?: string | (string)[] | null;
          temperature?: number | null;
          top_p?: number | null;
          frequency_penalty?: number | null;
          presence_penalty?: number | null;
          logit_bias?: Record<string, number> | null;
          logprobs?: boolean | null;
          top_logprobs?: number | null;
          seed?: number | null;
          reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null;
          verbosity?: "low" | "medium" | "high" | null;
          user?: string | null;
          safety_identifier?: string | null;
          metadata?: Record<string, string> | null;
          prompt_cache_key?: string | null;
          prompt_cache_options?: Record<string, unknown> | null;
          prompt_cache_retention?: "in_memory" | "in-memory" | "24h" | null;
          moderation?: Record<string, unknown> | null;
          functions?: ({
            name: string;
            description?: string | null;
            parameters?: Record<string, unknown> | null;
          })[] | null;
          function_call?: "none" | "auto" | {
            name: string;
          } | null;
          audio?: Record<string, unknown> | null;
          modalities?: ("text" | "audio")[] | null;
          prediction?: Record<string, unknown> | null;
          service_tier?: "auto" | "default" | "flex" | "scale" | "priority" | "fast" | "on_demand" | null;
          store?: boolean | null;
          web_search_options?: Record<string, unknown> | null;
          top_k?: number | null;
          min_p?: number | null;
          reasoning?: {
            effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null;
            max_tokens?: number | null;
            enabled?: boolean | null;
            exclude?: boolean | null;
          } | null;
          reasoning_format?: "parsed" | "raw" | "hidden" | null;
          include_reasoning?: boolean | null;
          provider?: Record<string, unknown> | null;
          models?: (string)[] | null;
          usage?: {
            include?: boolean | null;
          } | null;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            object: "chat.completion";
            created: number;
            model: string;
            choices: ({
              index: number;
              message: {
                role: "assistant";
                content: string | null;
                refusal?: string | null;
                reasoning_content?: string;
                tool_calls?: (Record<string, unknown>)[];
              };
              finish_reason: "stop" | "length" | "tool_calls" | "content_filter" | "function_call";
              logprobs?: Record<string, unknown> | null;
            })[];
            usage: {
              prompt_tokens: number;
              completion_tokens: number;
              total_tokens: number;
              prompt_tokens_details: {
                cached_tokens: number;
                cache_write_tokens: number;
                audio_tokens: number;
              };
              completion_tokens_details: {
                reasoning_tokens: number;
                audio_tokens: number;
                accepted_prediction_tokens: number;
                rejected_prediction_tokens: number;
              };
              charge: string;
              cache_saving?: string;
            };
            stopped_by?: "insufficient_balance";
          };
        } };
      };
    };
  };
  "/completions": {
    post: {
      parameters: {
        header?: {
          "idempotency-key"?: string;
          "x-quote-id"?: string;
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          model: string;
          prompt: string | (string)[] | (number)[] | ((number)[])[];
          stream?: boolean | null;
          stream_options?: {
            include_usage?: boolean | null;
            include_obfuscation?: boolean | null;
          } | null;
          max_tokens?: number | null;
          n?: number | null;
          best_of?: number | null;
          stop?: string | (string)[] | null;
          temperature?: number | null;
          top_p?: number | null;
          frequency_penalty?: number | null;
          presence_penalty?: number | null;
          logit_bias?: Record<string, number> | null;
          logprobs?: number | null;
          seed?: number | null;
          suffix?: string | null;
          echo?: boolean | null;
          user?: string | null;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            object: "text_completion";
            created: number;
            model: string;
            choices: ({
              text: string;
              index: number;
              logprobs: {
                tokens: (string)[];
                token_logprobs: (number)[];
                top_logprobs: (Record<string, number>)[] | null;
                text_offset: (number)[];
              } | null;
              finish_reason: "stop" | "length" | "content_filter";
            })[];
            usage: {
              prompt_tokens: number;
              completion_tokens: number;
              total_tokens: number;
              charge: string;
            };
            stopped_by?: "insufficient_balance";
          };
        } };
      };
    };
  };
  "/responses": {
    post: {
      parameters: {
        header?: {
          "idempotency-key"?: string;
          "x-quote-id"?: string;
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          model: string;
          input?: string | (Record<string, unknown>)[] | null;
          instructions?: string | null;
          previous_response_id?: string | null;
          store?: boolean | null;
          stream?: boolean | null;
          stream_options?: {
            include_obfuscation?: boolean | null;
          } | null;
          background?: boolean | null;
          tools?: (Record<string, unknown>)[] | null;
          tool_choice?: "none" | "auto" | "required" | Record<string, unknown> | null;
          parallel_tool_calls?: boolean | null;
          max_tool_calls?: number | null;
          text?: {
            format?: Record<string, unknown> | null;
            verbosity?: "low" | "medium" | "high" | null;
          } | null;
          reasoning?: {
            effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null;
            summary?: "auto" | "concise" | "detailed" | null;
            generate_summary?: "auto" | "concise" | "detailed" | null;
            context?: "auto" | "current_turn" | "all_turns" | null;
            mode?: string | null;
          } | null;
          max_output_tokens?: number | null;
          temperature?: number | null;
          top_p?: number | null;
          top_logprobs?: number | null;
          truncation?: "auto" | "disabled" | null;
          include?: ("file_search_call.results" | "web_search_call.results" | "web_search_call.action.sources" | "message.input_image.image_url" | "computer_call_output.output.image_url" | "code_interpreter_call.outputs" | "reasoning.encrypted_content" | "message.output_text.logprobs")[] | null;
          metadata?: Record<string, string> | null;
          user?: string | null;
          safety_identifier?: string | null;
          service_tier?: "auto" | "default" | "flex" | "scale" | "priority" | "fast" | null;
          prompt_cache_key?: string | null;
          prompt_cache_options?: Record<string, unknown> | null;
          prompt_cache_retention?: "in_memory" | "in-memory" | "24h" | null;
          moderation?: Record<string, unknown> | null;
          conversation?: string | Record<string, unknown> | null;
          prompt?: Record<string, unknown> | null;
          context_management?: (Record<string, unknown>)[] | null;
          access_programs?: Record<string, unknown> | null;
          image?: Record<string, unknown> | null;
          client_metadata?: Record<string, unknown> | null;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            object: "response";
            created_at: number;
            completed_at: number | null;
            status: "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";
            model: string;
            output: (Record<string, unknown>)[];
            error: {
              code: string;
              message: string;
            } | null;
            incomplete_details: {
              reason?: "max_output_tokens" | "content_filter";
            } | null;
            store: boolean;
            usage: {
              input_tokens: number;
              input_tokens_details: {
                cached_tokens: number;
                cache_write_tokens: number;
              };
              output_tokens: number;
              output_tokens_details: {
                reasoning_tokens: number;
              };
              total_tokens: number;
              charge: string;
              cache_saving?: string;
            } | null;
            stopped_by?: "insufficient_balance";
          };
        } };
      };
    };
  };
  "/responses/{response_id}": {
    get: {
      parameters: {
        query?: {
          stream?: boolean;
          starting_after?: number;
          include_obfuscation?: boolean;
          include?: (string)[];
          "include[]"?: (string)[];
        };
        path: {
          response_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            object: "response";
            created_at: number;
            completed_at: number | null;
            status: "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";
            model: string;
            output: (Record<string, unknown>)[];
            error: {
              code: string;
              message: string;
            } | null;
            incomplete_details: {
              reason?: "max_output_tokens" | "content_filter";
            } | null;
            store: boolean;
            usage: {
              input_tokens: number;
              input_tokens_details: {
                cached_tokens: number;
                cache_write_tokens: number;
              };
              output_tokens: number;
              output_tokens_details: {
                reasoning_tokens: number;
              };
              total_tokens: number;
              charge: string;
              cache_saving?: string;
            } | null;
            stopped_by?: "insufficient_balance";
          };
        } };
      };
    };
    delete: {
      parameters: {
        path: {
          response_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            object: "response";
            deleted: true;
          };
        } };
      };
    };
  };
  "/responses/{response_id}/cancel": {
    post: {
      parameters: {
        path: {
          response_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Record<never, never> | null;
      } };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            object: "response";
            created_at: number;
            completed_at: number | null;
            status: "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";
            model: string;
            output: (Record<string, unknown>)[];
            error: {
              code: string;
              message: string;
            } | null;
            incomplete_details: {
              reason?: "max_output_tokens" | "content_filter";
            } | null;
            store: boolean;
            usage: {
              input_tokens: number;
              input_tokens_details: {
                cached_tokens: number;
                cache_write_tokens: number;
              };
              output_tokens: number;
              output_tokens_details: {
                reasoning_tokens: number;
              };
              total_tokens: number;
              charge: string;
              cache_saving?: string;
            } | null;
            stopped_by?: "insufficient_balance";
          };
        } };
      };
    };
  };
  "/responses/{response_id}/input_items": {
    get: {
      parameters: {
        query?: {
          limit?: number;
          order?: "asc" | "desc";
          after?: string;
          include?: (string)[];
          "include[]"?: (string)[];
        };
        path: {
          response_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: (Record<string, unknown>)[];
            first_id: string | null;
            last_id: string | null;
            has_more: boolean;
          };
        } };
      };
    };
  };
  "/responses/input_tokens": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          model?: string | null;
          input?: string | (Record<string, unknown>)[] | null;
          instructions?: string | null;
          previous_response_id?: string | null;
          conversation?: string | Record<string, unknown> | null;
          tools?: (Record<string, unknown>)[] | null;
          tool_choice?: "none" | "auto" | "required" | Record<string, unknown> | null;
          parallel_tool_calls?: boolean | null;
          text?: {
            format?: Record<string, unknown> | null;
            verbosity?: "low" | "medium" | "high" | null;
          } | null;
          reasoning?: {
            effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null;
            summary?: "auto" | "concise" | "detailed" | null;
            generate_summary?: "auto" | "concise" | "detailed" | null;
            context?: "auto" | "current_turn" | "all_turns" | null;
            mode?: string | null;
          } | null;
          truncation?: "auto" | "disabled" | null;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "response.input_tokens";
            input_tokens: number;
          };
        } };
      };
    };
  };
  "/responses/compact": {
    post: {
      parameters: {
        header?: {
          "idempotency-key"?: string;
          "x-quote-id"?: string;
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          model: string;
          input?: string | (Record<string, unknown>)[] | null;
          instructions?: string | null;
          previous_response_id?: string | null;
          service_tier?: "auto" | "default" | "flex" | "scale" | "priority" | "fast" | null;
          prompt_cache_key?: string | null;
          prompt_cache_options?: Record<string, unknown> | null;
          prompt_cache_retention?: "in_memory" | "in-memory" | "24h" | null;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            object: "response.compaction";
            created_at: number;
            output: (Record<string, unknown>)[];
            usage: {
              input_tokens: number;
              input_tokens_details: {
                cached_tokens: number;
                cache_write_tokens: number;
              };
              output_tokens: number;
              output_tokens_details: {
                reasoning_tokens: number;
              };
              total_tokens: number;
              charge: string;
              cache_saving?: string;
            } | null;
          };
        } };
      };
    };
  };
  "/conversations": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          items?: (Record<string, unknown>)[] | null;
          metadata?: Record<string, string> | null;
        } | null;
      } };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            object: "conversation";
            created_at: number;
            metadata: Record<string, string>;
          };
        } };
      };
    };
  };
  "/conversations/{conversation_id}": {
    get: {
      parameters: {
        path: {
          conversation_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            object: "conversation";
            created_at: number;
            metadata: Record<string, string>;
          };
        } };
      };
    };
    post: {
      parameters: {
        path: {
          conversation_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          metadata: Record<string, string> | null;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            object: "conversation";
            created_at: number;
            metadata: Record<string, string>;
          };
        } };
      };
    };
    delete: {
      parameters: {
        path: {
          conversation_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            object: "conversation.deleted";
            deleted: true;
          };
        } };
      };
    };
  };
  "/conversations/{conversation_id}/items": {
    post: {
      parameters: {
        query?: {
          include?: (string)[];
          "include[]"?: (string)[];
        };
        path: {
          conversation_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          items: (Record<string, unknown>)[];
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: (Record<string, unknown>)[];
            first_id: string | null;
            last_id: string | null;
            has_more: boolean;
          };
        } };
      };
    };
    get: {
      parameters: {
        query?: {
          limit?: number;
          order?: "asc" | "desc";
          after?: string;
          include?: (string)[];
          "include[]"?: (string)[];
        };
        path: {
          conversation_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: (Record<string, unknown>)[];
            first_id: string | null;
            last_id: string | null;
            has_more: boolean;
          };
        } };
      };
    };
  };
  "/conversations/{conversation_id}/items/{item_id}": {
    get: {
      parameters: {
        query?: {
          include?: (string)[];
          "include[]"?: (string)[];
        };
        path: {
          conversation_id: string;
          item_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            type: string;
          };
        } };
      };
    };
    delete: {
      parameters: {
        path: {
          conversation_id: string;
          item_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            object: "conversation";
            created_at: number;
            metadata: Record<string, string>;
          };
        } };
      };
    };
  };
  "/embeddings": {
    post: {
      parameters: {
        header?: {
          "idempotency-key"?: string;
          "x-quote-id"?: string;
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          model: string;
          input: string | (string)[] | (number)[] | ((number)[])[];
          encoding_format?: "float" | "base64" | null;
          dimensions?: number | null;
          user?: string | null;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "embedding";
              index: number;
              embedding: (number)[] | string;
            })[];
            model: string;
            usage: {
              prompt_tokens: number;
              total_tokens: number;
              charge: string;
            };
          };
        } };
      };
    };
  };
  "/files": {
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
          order?: "asc" | "desc";
          purpose?: "generation" | "vision" | "user_data" | "assistants" | "output";
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "file";
              file_id: string;
              id: string;
              bytes: number;
              content_type: string;
              filename: string;
              purpose: "generation" | "vision" | "user_data" | "assistants" | "output";
              created: number;
              created_at: number;
              status: "processed";
              expires_at: string;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
    post: {
      parameters: {
        header?: {
          "idempotency-key"?: string;
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "multipart/form-data": {
          file: string;
          purpose: "generation" | "vision" | "user_data" | "assistants";
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "file";
            file_id: string;
            id: string;
            bytes: number;
            content_type: string;
            filename: string;
            purpose: "generation" | "vision" | "user_data" | "assistants" | "output";
            created: number;
            created_at: number;
            status: "processed";
            expires_at: string;
          };
        } };
      };
    };
  };
  "/files/{file_id}": {
    get: {
      parameters: {
        path: {
          file_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "file";
            file_id: string;
            id: string;
            bytes: number;
            content_type: string;
            filename: string;
            purpose: "generation" | "vision" | "user_data" | "assistants" | "output";
            created: number;
            created_at: number;
            status: "processed";
            expires_at: string;
          };
        } };
      };
    };
    delete: {
      parameters: {
        path: {
          file_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            object: "file";
            deleted: true;
          };
        } };
      };
    };
  };
  "/files/{file_id}/content": {
    get: {
      parameters: {
        path: {
          file_id: string;
        };
        header?: {
          range?: string;
          "if-range"?: string;
          "if-none-match"?: string;
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "drama.script" | "drama.roles" | "drama.storyboard";
          };
        } };
        206: { content: {
          "image/*": string;
          "audio/*": string;
          "video/*": string;
          "text/*": string;
          "application/*": string;
        } };
      };
    };
  };
  "/audio/speech": {
    post: {
      parameters: {
        header?: {
          "idempotency-key"?: string;
          "x-quote-id"?: string;
          prefer?: string;
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          model: string;
          input: string;
          voice: string;
          response_format?: "mp3" | "opus" | "aac" | "flac" | "wav" | "pcm";
          speed?: number;
          instructions?: string;
          stream_format?: "audio" | "sse";
          callback_url?: string;
          metadata?: Record<string, string>;
          expires_after?: number;
        };
      } };
      responses: {
        200: { content: {
          "audio/mpeg": string;
          "audio/opus": string;
          "audio/aac": string;
          "audio/flac": string;
          "audio/wav": string;
          "audio/pcm": string;
          "text/event-stream": string;
        } };
        202: { content: {
          "application/json": {
            id: string;
            object: "generation.task";
            type: "image" | "video" | "avatar" | "drama" | "speech";
            model: string;
            prompt?: string;
            prompt_erased_at?: string;
            status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
            progress: number;
            output: ({
              type: string;
              file_id: string;
              url: string;
              content_type: string;
              bytes: number;
              sha256: string;
              width?: number;
              height?: number;
              duration?: number;
              expires_at: string;
            })[];
            data?: ({
              url?: string;
              b64_json?: string;
              revised_prompt?: string;
            })[];
            usage: {
              total_units: number;
              charge?: string;
              estimated_charge: string;
            };
            created: number;
            request_id: string;
            updated_at: string;
            error?: {
              code: string;
              message: string;
              param: string | null;
              retryable: boolean;
            };
            warnings?: ({
              code: string;
              message: string;
            })[];
            metadata?: Record<string, string>;
            client_request_id?: string;
            queue_position?: number;
            started_at?: string;
            finished_at?: string;
            expires_at?: string;
            parent_id?: string;
            steps?: ({
              name: string;
              status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
              progress: number;
              output: ({
                type: string;
                file_id: string;
                url: string;
                content_type: string;
                bytes: number;
                sha256: string;
                width?: number;
                height?: number;
                duration?: number;
                expires_at: string;
              })[];
              charge: string;
              task_ids: (string)[];
            })[];
          };
        } };
      };
    };
  };
  "/images/generations": {
    post: {
      parameters: {
        header?: {
          "idempotency-key"?: string;
          "x-quote-id"?: string;
          prefer?: string;
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          model: string;
          prompt: string;
          size?: string | null;
          n?: number | null;
          input_images?: (string)[];
          resolution?: string;
          seed?: number;
          negative_prompt?: string;
          response_format?: "url" | "b64_json" | null;
          output_format?: "png" | "jpeg" | "webp" | null;
          output_compression?: number | null;
          quality?: string | null;
          style?: string | null;
          moderation?: string | null;
          input_fidelity?: string | null;
          background?: string | null;
          user?: string | null;
          stream?: boolean | null;
          partial_images?: number | null;
          callback_url?: string;
          metadata?: Record<string, string>;
          expires_after?: number;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            object: "generation.task";
            type: "image" | "video" | "avatar" | "drama" | "speech";
            model: string;
            prompt?: string;
            prompt_erased_at?: string;
            status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
            progress: number;
            output: ({
              type: string;
              file_id: string;
              url: string;
              content_type: string;
              bytes: number;
              sha256: string;
              width?: number;
              height?: number;
              duration?: number;
              expires_at: string;
            })[];
            data?: ({
              url?: string;
              b64_json?: string;
              revised_prompt?: string;
            })[];
            usage: {
              total_units: number;
              charge?: string;
              estimated_charge: string;
              input_tokens?: 0;
              input_tokens_details?: {
                image_tokens: 0;
                text_tokens: 0;
              };
              output_tokens?: 0;
              total_tokens?: 0;
            };
            created: number;
            request_id: string;
            updated_at: string;
            error?: {
              code: string;
              message: string;
              param: string | null;
              retryable: boolean;
            };
            warnings?: ({
              code: string;
              message: string;
            })[];
            metadata?: Record<string, string>;
            client_request_id?: string;
            queue_position?: number;
            started_at?: string;
            finished_at?: string;
            expires_at?: string;
            parent_id?: string;
            steps?: ({
              name: string;
              status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
              progress: number;
              output: ({
                type: string;
                file_id: string;
                url: string;
                content_type: string;
                bytes: number;
                sha256: string;
                width?: number;
                height?: number;
                duration?: number;
                expires_at: string;
              })[];
              charge: string;
              task_ids: (string)[];
            })[];
          };
        } };
        202: { content: {
          "application/json": {
            id: string;
            object: "generation.task";
            type: "image" | "video" | "avatar" | "drama" | "speech";
            model: string;
            prompt?: string;
            prompt_erased_at?: string;
            status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
            progress: number;
            output: ({
              type: string;
              file_id: string;
              url: string;
              content_type: string;
              bytes: number;
              sha256: string;
              width?: number;
              height?: number;
              duration?: number;
              expires_at: string;
            })[];
            data?: ({
              url?: string;
              b64_json?: string;
              revised_prompt?: string;
            })[];
            usage: {
              total_units: number;
              charge?: string;
              estimated_charge: string;
            };
            created: number;
            request_id: string;
            updated_at: string;
            error?: {
              code: string;
              message: string;
              param: string | null;
              retryable: boolean;
            };
            warnings?: ({
              code: string;
              message: string;
            })[];
            metadata?: Record<string, string>;
            client_request_id?: string;
            queue_position?: number;
            started_at?: string;
            finished_at?: string;
            expires_at?: string;
            parent_id?: string;
            steps?: ({
              name: string;
              status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
              progress: number;
              output: ({
                type: string;
                file_id: string;
                url: string;
                content_type: string;
                bytes: number;
                sha256: string;
                width?: number;
                height?: number;
                duration?: number;
                expires_at: string;
              })[];
              charge: string;
              task_ids: (string)[];
            })[];
          };
        } };
      };
    };
  };
  "/videos/generations": {
    post: {
      parameters: {
        header?: {
          "idempotency-key"?: string;
          "x-quote-id"?: string;
          prefer?: string;
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          model: string;
          prompt?: string;
          duration?: number;
          aspect_ratio?: string;
          input_images?: (string)[];
          last_image?: string;
          resolution?: string;
          quality?: string;
          style?: string;
          frame_rate?: number;
          audio?: boolean;
          seed?: number;
          negative_prompt?: string;
          callback_url?: string;
          metadata?: Record<string, string>;
          expires_after?: number;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            object: "generation.task";
            type: "image" | "video" | "avatar" | "drama" | "speech";
            model: string;
            prompt?: string;
            prompt_erased_at?: string;
            status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
            progress: number;
            output: ({
              type: string;
              file_id: string;
              url: string;
              content_type: string;
              bytes: number;
              sha256: string;
              width?: number;
              height?: number;
              duration?: number;
              expires_at: string;
            })[];
            data?: ({
              url?: string;
              b64_json?: string;
              revised_prompt?: string;
            })[];
            usage: {
              total_units: number;
              charge?: string;
              estimated_charge: string;
            };
            created: number;
            request_id: string;
            updated_at: string;
            error?: {
              code: string;
              message: string;
              param: string | null;
              retryable: boolean;
            };
            warnings?: ({
              code: string;
              message: string;
            })[];
            metadata?: Record<string, string>;
            client_request_id?: string;
            queue_position?: number;
            started_at?: string;
            finished_at?: string;
            expires_at?: string;
            parent_id?: string;
            steps?: ({
              name: string;
              status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
              progress: number;
              output: ({
                type: string;
                file_id: string;
                url: string;
                content_type: string;
                bytes: number;
                sha256: string;
                width?: number;
                height?: number;
                duration?: number;
                expires_at: string;
              })[];
              charge: string;
              task_ids: (string)[];
            })[];
          };
        } };
        202: { content: {
          "application/json": {
            id: string;
            object: "generation.task";
            type: "image" | "video" | "avatar" | "drama" | "speech";
            model: string;
            prompt?: string;
            prompt_erased_at?: string;
            status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
            progress: number;
            output: ({
              type: string;
              file_id: string;
              url: string;
              content_type: string;
              bytes: number;
              sha256: string;
              width?: number;
              height?: number;
              duration?: number;
              expires_at: string;
            })[];
            data?: ({
              url?: string;
              b64_json?: string;
              revised_prompt?: string;
            })[];
            usage: {
              total_units: number;
              charge?: string;
              estimated_charge: string;
            };
            created: number;
            request_id: string;
            updated_at: string;
            error?: {
              code: string;
              message: string;
              param: string | null;
              retryable: boolean;
            };
            warnings?: ({
              code: string;
              message: string;
            })[];
            metadata?: Record<string, string>;
            client_request_id?: string;
            queue_position?: number;
            started_at?: string;
            finished_at?: string;
            expires_at?: string;
            parent_id?: string;
            steps?: ({
              name: string;
              status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
              progress: number;
              output: ({
                type: string;
                file_id: string;
                url: string;
                content_type: string;
                bytes: number;
                sha256: string;
                width?: number;
                height?: number;
                duration?: number;
                expires_at: string;
              })[];
              charge: string;
              task_ids: (string)[];
            })[];
          };
        } };
      };
    };
  };
  "/avatars/generations": {
    post: {
      parameters: {
        header?: {
          "idempotency-key"?: string;
          "x-quote-id"?: string;
          prefer?: string;
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          model: string;
          avatar_file_id: string;
          audio_file_id: string;
          aspect_ratio?: string;
          resolution?: string;
          seed?: number;
          prompt?: string;
          callback_url?: string;
          metadata?: Record<string, string>;
          expires_after?: number;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            object: "generation.task";
            type: "image" | "video" | "avatar" | "drama" | "speech";
            model: string;
            prompt?: string;
            prompt_erased_at?: string;
            status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
            progress: number;
            output: ({
              type: string;
              file_id: string;
              url: string;
              content_type: string;
              bytes: number;
              sha256: string;
              width?: number;
              height?: number;
              duration?: number;
              expires_at: string;
            })[];
            data?: ({
              url?: string;
              b64_json?: string;
              revised_prompt?: string;
            })[];
            usage: {
              total_units: number;
              charge?: string;
              estimated_charge: string;
            };
            created: number;
            request_id: string;
            updated_at: string;
            error?: {
              code: string;
              message: string;
              param: string | null;
              retryable: boolean;
            };
            warnings?: ({
              code: string;
              message: string;
            })[];
            metadata?: Record<string, string>;
            client_request_id?: string;
            queue_position?: number;
            started_at?: string;
            finished_at?: string;
            expires_at?: string;
            parent_id?: string;
            steps?: ({
              name: string;
              status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
              progress: number;
              output: ({
                type: string;
                file_id: string;
                url: string;
                content_type: string;
                bytes: number;
                sha256: string;
                width?: number;
                height?: number;
                duration?: number;
                expires_at: string;
              })[];
              charge: string;
              task_ids: (string)[];
            })[];
          };
        } };
        202: { content: {
          "application/json": {
            id: string;
            object: "generation.task";
            type: "image" | "video" | "avatar" | "drama" | "speech";
            model: string;
            prompt?: string;
            prompt_erased_at?: string;
            status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
            progress: number;
            output: ({
              type: string;
              file_id: string;
              url: string;
              content_type: string;
              bytes: number;
              sha256: string;
              width?: number;
              height?: number;
              duration?: number;
              expires_at: string;
            })[];
            data?: ({
              url?: string;
              b64_json?: string;
              revised_prompt?: string;
            })[];
            usage: {
              total_units: number;
              charge?: string;
              estimated_charge: string;
            };
            created: number;
            request_id: string;
            updated_at: string;
            error?: {
              code: string;
              message: string;
              param: string | null;
              retryable: boolean;
            };
            warnings?: ({
              code: string;
              message: string;
            })[];
            metadata?: Record<string, string>;
            client_request_id?: string;
            queue_position?: number;
            started_at?: string;
            finished_at?: string;
            expires_at?: string;
            parent_id?: string;
            steps?: ({
              name: string;
              status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
              progress: number;
              output: ({
                type: string;
                file_id: string;
                url: string;
                content_type: string;
                bytes: number;
                sha256: string;
                width?: number;
                height?: number;
                duration?: number;
                expires_at: string;
              })[];
              charge: string;
              task_ids: (string)[];
            })[];
          };
        } };
      };
    };
  };
  "/tasks/{task_id}": {
    get: {
      parameters: {
        path: {
          task_id: string;
        };
        header?: {
          "if-none-match"?: string;
          prefer?: string;
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            object: "generation.task";
            type: "image" | "video" | "avatar" | "drama" | "speech";
            model: string;
            prompt?: string;
            prompt_erased_at?: string;
            status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
            progress: number;
            output: ({
              type: string;
              file_id: string;
              url: string;
              content_type: string;
              bytes: number;
              sha256: string;
              width?: number;
              height?: number;
              duration?: number;
              expires_at: string;
            })[];
            data?: ({
              url?: string;
              b64_json?: string;
              revised_prompt?: string;
            })[];
            usage: {
              total_units: number;
              charge?: string;
              estimated_charge: string;
            };
            created: number;
            request_id: string;
            updated_at: string;
            error?: {
              code: string;
              message: string;
              param: string | null;
              retryable: boolean;
            };
            warnings?: ({
              code: string;
              message: string;
            })[];
            metadata?: Record<string, string>;
            client_request_id?: string;
            queue_position?: number;
            started_at?: string;
            finished_at?: string;
            expires_at?: string;
            parent_id?: string;
            steps?: ({
              name: string;
              status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
              progress: number;
              output: ({
                type: string;
                file_id: string;
                url: string;
                content_type: string;
                bytes: number;
                sha256: string;
                width?: number;
                height?: number;
                duration?: number;
                expires_at: string;
              })[];
              charge: string;
              task_ids: (string)[];
            })[];
          };
        } };
      };
    };
  };
  "/tasks": {
    get: {
      parameters: {
        query?: {
          status?: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
          type?: "image" | "video" | "avatar" | "drama" | "speech";
          model?: string;
          q?: string;
          from?: string;
          to?: string;
          parent_id?: string;
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              id: string;
              object: "generation.task";
              type: "image" | "video" | "avatar" | "drama" | "speech";
              model: string;
              prompt?: string;
              prompt_erased_at?: string;
              status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
              progress: number;
              output: ({
                type: string;
                file_id: string;
                url: string;
                content_type: string;
                bytes: number;
                sha256: string;
                width?: number;
                height?: number;
                duration?: number;
                expires_at: string;
              })[];
              data?: ({
                url?: string;
                b64_json?: string;
                revised_prompt?: string;
              })[];
              usage: {
                total_units: number;
                charge?: string;
                estimated_charge: string;
              };
              created: number;
              request_id: string;
              updated_at: string;
              error?: {
                code: string;
                message: string;
                param: string | null;
                retryable: boolean;
              };
              warnings?: ({
                code: string;
                message: string;
              })[];
              metadata?: Record<string, string>;
              client_request_id?: string;
              queue_position?: number;
              started_at?: string;
              finished_at?: string;
              expires_at?: string;
              parent_id?: string;
              steps?: ({
                name: string;
                status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
                progress: number;
                output: ({
                  type: string;
                  file_id: string;
                  url: string;
                  content_type: string;
                  bytes: number;
                  sha256: string;
                  width?: number;
                  height?: number;
                  duration?: number;
                  expires_at: string;
                })[];
                charge: string;
                task_ids: (string)[];
              })[];
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/tasks/counts": {
    get: {
      parameters: {
        query?: {
          status?: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
          type?: "image" | "video" | "avatar" | "drama" | "speech";
          model?: string;
          q?: string;
          from?: string;
          to?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
              type: "image" | "video" | "avatar" | "drama" | "speech";
              count: number;
            })[];
            has_more: boolean;
          };
        } };
      };
    };
  };
  "/tasks/{task_id}/request": {
    get: {
      parameters: {
        path: {
          task_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "generation.request";
            task_id: string;
            endpoint: string;
            body: Record<never, never>;
          };
        } };
      };
    };
  };
  "/tasks/{task_id}/cancel": {
    post: {
      parameters: {
        path: {
          task_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Record<never, never> | null;
      } };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            object: "generation.task";
            type: "image" | "video" | "avatar" | "drama" | "speech";
            model: string;
            prompt?: string;
            prompt_erased_at?: string;
            status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
            progress: number;
            output: ({
              type: string;
              file_id: string;
              url: string;
              content_type: string;
              bytes: number;
              sha256: string;
              width?: number;
              height?: number;
              duration?: number;
              expires_at: string;
            })[];
            data?: ({
              url?: string;
              b64_json?: string;
              revised_prompt?: string;
            })[];
            usage: {
              total_units: number;
              charge?: string;
              estimated_charge: string;
            };
            created: number;
            request_id: string;
            updated_at: string;
            error?: {
              code: string;
              message: string;
              param: string | null;
              retryable: boolean;
            };
            warnings?: ({
              code: string;
              message: string;
            })[];
            metadata?: Record<string, string>;
            client_request_id?: string;
            queue_position?: number;
            started_at?: string;
            finished_at?: string;
            expires_at?: string;
            parent_id?: string;
            steps?: ({
              name: string;
              status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
              progress: number;
              output: ({
                type: string;
                file_id: string;
                url: string;
                content_type: string;
                bytes: number;
                sha256: string;
                width?: number;
                height?: number;
                duration?: number;
                expires_at: string;
              })[];
              charge: string;
              task_ids: (string)[];
            })[];
          };
        } };
      };
    };
  };
  "/tasks/{task_id}/events": {
    get: {
      parameters: {
        path: {
          task_id: string;
        };
        header?: {
          "last-event-id"?: string;
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "text/event-stream": string;
        } };
      };
    };
  };
  "/dramas/generations": {
    post: {
      parameters: {
        header?: {
          "idempotency-key"?: string;
          "x-quote-id"?: string;
          prefer?: string;
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          model: string;
          title?: string;
          script?: string | {
            object: "drama.script";
            title: string;
            episode: number;
            language: string;
            logline: string;
            scenes: ({
              id: string;
              heading: string;
              place: string;
              time: string;
              action: string;
              lines: ({
                speaker: string | null;
                text: string;
              })[];
            })[];
          } | {
            object: "drama.roles";
            script: {
              object: "drama.script";
              title: string;
              episode: number;
              language: string;
              logline: string;
              scenes: ({
                id: string;
                heading: string;
                place: string;
                time: string;
                action: string;
                lines: ({
                  speaker: string | null;
                  text: string;
                })[];
              })[];
            };
            narrator_voice: string;
            roles: ({
              name: string;
              description: string;
              appearance: string;
              voice: string;
              reference_file_id: string | null;
            })[];
          } | {
            object: "drama.storyboard";
            title: string;
            episode: number;
            language: string;
            aspect_ratio: string;
            style?: string;
            seed?: number;
            narrator_voice: string;
            roles: ({
              name: string;
              description: string;
              appearance: string;
              voice: string;
              reference_file_id: string | null;
            })[];
            shots: ({
              id: string;
              scene: string;
              prompt: string;
              camera: string;
              duration: number;
              characters: (string)[];
              lines: ({
                speaker: string | null;
                text: string;
              })[];
              image_file_id: string | null;
            })[];
          };
          stage?: "script" | "roles" | "storyboard" | "video";
          characters?: ({
            name: string;
            reference_file_id?: string;
          })[];
          episode?: number;
          aspect_ratio?: string;
          client_business_id?: string;
          from_task_id?: string;
          allow_partial?: boolean;
          style?: string;
          seed?: number;
          subtitles?: "burned" | "track" | "none";
          callback_url?: string;
          metadata?: Record<string, string>;
          expires_after?: number;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            object: "generation.task";
            type: "image" | "video" | "avatar" | "drama" | "speech";
            model: string;
            prompt?: string;
            prompt_erased_at?: string;
            status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
            progress: number;
            output: ({
              type: string;
              file_id: string;
              url: string;
              content_type: string;
              bytes: number;
              sha256: string;
              width?: number;
              height?: number;
              duration?: number;
              expires_at: string;
            })[];
            data?: ({
              url?: string;
              b64_json?: string;
              revised_prompt?: string;
            })[];
            usage: {
              total_units: number;
              charge?: string;
              estimated_charge: string;
            };
            created: number;
            request_id: string;
            updated_at: string;
            error?: {
              code: string;
              message: string;
              param: string | null;
              retryable: boolean;
            };
            warnings?: ({
              code: string;
              message: string;
            })[];
            metadata?: Record<string, string>;
            client_request_id?: string;
            queue_position?: number;
            started_at?: string;
            finished_at?: string;
            expires_at?: string;
            parent_id?: string;
            steps?: ({
              name: string;
              status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
              progress: number;
              output: ({
                type: string;
                file_id: string;
                url: string;
                content_type: string;
                bytes: number;
                sha256: string;
                width?: number;
                height?: number;
                duration?: number;
                expires_at: string;
              })[];
              charge: string;
              task_ids: (string)[];
            })[];
          };
        } };
        202: { content: {
          "application/json": {
            id: string;
            object: "generation.task";
            type: "image" | "video" | "avatar" | "drama" | "speech";
            model: string;
            prompt?: string;
            prompt_erased_at?: string;
            status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
            progress: number;
            output: ({
              type: string;
              file_id: string;
              url: string;
              content_type: string;
              bytes: number;
              sha256: string;
              width?: number;
              height?: number;
              duration?: number;
              expires_at: string;
            })[];
            data?: ({
              url?: string;
              b64_json?: string;
              revised_prompt?: string;
            })[];
            usage: {
              total_units: number;
              charge?: string;
              estimated_charge: string;
            };
            created: number;
            request_id: string;
            updated_at: string;
            error?: {
              code: string;
              message: string;
              param: string | null;
              retryable: boolean;
            };
            warnings?: ({
              code: string;
              message: string;
            })[];
            metadata?: Record<string, string>;
            client_request_id?: string;
            queue_position?: number;
            started_at?: string;
            finished_at?: string;
            expires_at?: string;
            parent_id?: string;
            steps?: ({
              name: string;
              status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
              progress: number;
              output: ({
                type: string;
                file_id: string;
                url: string;
                content_type: string;
                bytes: number;
                sha256: string;
                width?: number;
                height?: number;
                duration?: number;
                expires_at: string;
              })[];
              charge: string;
              task_ids: (string)[];
            })[];
          };
        } };
      };
    };
  };
  "/dramas/{task_id}/shots/{shot_number}": {
    post: {
      parameters: {
        path: {
          task_id: string;
          shot_number: string;
        };
        header?: {
          "idempotency-key"?: string;
          "x-quote-id"?: string;
          prefer?: string;
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          prompt?: string;
          seed?: number;
          callback_url?: string;
          metadata?: Record<string, string>;
          expires_after?: number;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            object: "generation.task";
            type: "image" | "video" | "avatar" | "drama" | "speech";
            model: string;
            prompt?: string;
            prompt_erased_at?: string;
            status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
            progress: number;
            output: ({
              type: string;
              file_id: string;
              url: string;
              content_type: string;
              bytes: number;
              sha256: string;
              width?: number;
              height?: number;
              duration?: number;
              expires_at: string;
            })[];
            data?: ({
              url?: string;
              b64_json?: string;
              revised_prompt?: string;
            })[];
            usage: {
              total_units: number;
              charge?: string;
              estimated_charge: string;
            };
            created: number;
            request_id: string;
            updated_at: string;
            error?: {
              code: string;
              message: string;
              param: string | null;
              retryable: boolean;
            };
            warnings?: ({
              code: string;
              message: string;
            })[];
            metadata?: Record<string, string>;
            client_request_id?: string;
            queue_position?: number;
            started_at?: string;
            finished_at?: string;
            expires_at?: string;
            parent_id?: string;
            steps?: ({
              name: string;
              status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
              progress: number;
              output: ({
                type: string;
                file_id: string;
                url: string;
                content_type: string;
                bytes: number;
                sha256: string;
                width?: number;
                height?: number;
                duration?: number;
                expires_at: string;
              })[];
              charge: string;
              task_ids: (string)[];
            })[];
          };
        } };
        202: { content: {
          "application/json": {
            id: string;
            object: "generation.task";
            type: "image" | "video" | "avatar" | "drama" | "speech";
            model: string;
            prompt?: string;
            prompt_erased_at?: string;
            status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
            progress: number;
            output: ({
              type: string;
              file_id: string;
              url: string;
              content_type: string;
              bytes: number;
              sha256: string;
              width?: number;
              height?: number;
              duration?: number;
              expires_at: string;
            })[];
            data?: ({
              url?: string;
              b64_json?: string;
              revised_prompt?: string;
            })[];
            usage: {
              total_units: number;
              charge?: string;
              estimated_charge: string;
            };
            created: number;
            request_id: string;
            updated_at: string;
            error?: {
              code: string;
              message: string;
              param: string | null;
              retryable: boolean;
            };
            warnings?: ({
              code: string;
              message: string;
            })[];
            metadata?: Record<string, string>;
            client_request_id?: string;
            queue_position?: number;
            started_at?: string;
            finished_at?: string;
            expires_at?: string;
            parent_id?: string;
            steps?: ({
              name: string;
              status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
              progress: number;
              output: ({
                type: string;
                file_id: string;
                url: string;
                content_type: string;
                bytes: number;
                sha256: string;
                width?: number;
                height?: number;
                duration?: number;
                expires_at: string;
              })[];
              charge: string;
              task_ids: (string)[];
            })[];
          };
        } };
      };
    };
  };
  "/webhook_endpoints": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          url: string;
          description?: string;
          event_types?: ("task.succeeded" | "task.failed" | "task.canceled" | "task.expired")[];
        };
      } };
      responses: {
        201: { content: {
          "application/json": {
            object: "webhook_endpoint";
            id: string;
            url: string;
            description?: string;
            event_types: (string)[];
            enabled: boolean;
            disabled_at?: string;
            disabled_reason?: "owner" | "gone" | "failing";
            failing_since?: string;
            previous_secret_expires_at?: string;
            created: number;
            secret?: string;
          };
        } };
      };
    };
    get: {
      parameters: {
        query: {
          limit: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "webhook_endpoint";
              id: string;
              url: string;
              description?: string;
              event_types: (string)[];
              enabled: boolean;
              disabled_at?: string;
              disabled_reason?: "owner" | "gone" | "failing";
              failing_since?: string;
              previous_secret_expires_at?: string;
              created: number;
              secret?: string;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/webhook_endpoints/{id}": {
    get: {
      parameters: {
        path: {
          id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "webhook_endpoint";
            id: string;
            url: string;
            description?: string;
            event_types: (string)[];
            enabled: boolean;
            disabled_at?: string;
            disabled_reason?: "owner" | "gone" | "failing";
            failing_since?: string;
            previous_secret_expires_at?: string;
            created: number;
            secret?: string;
          };
        } };
      };
    };
    patch: {
      parameters: {
        path: {
          id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          url?: string;
          description?: string;
          event_types?: ("task.succeeded" | "task.failed" | "task.canceled" | "task.expired")[];
          enabled?: boolean;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "webhook_endpoint";
            id: string;
            url: string;
            description?: string;
            event_types: (string)[];
            enabled: boolean;
            disabled_at?: string;
            disabled_reason?: "owner" | "gone" | "failing";
            failing_since?: string;
            previous_secret_expires_at?: string;
            created: number;
            secret?: string;
          };
        } };
      };
    };
    delete: {
      parameters: {
        path: {
          id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            object: "webhook_endpoint";
            deleted: true;
          };
        } };
      };
    };
  };
  "/webhook_endpoints/{id}/rotate_secret": {
    post: {
      parameters: {
        path: {
          id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Record<never, never> | null;
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "webhook_endpoint";
            id: string;
            url: string;
            description?: string;
            event_types: (string)[];
            enabled: boolean;
            disabled_at?: string;
            disabled_reason?: "owner" | "gone" | "failing";
            failing_since?: string;
            previous_secret_expires_at?: string;
            created: number;
            secret?: string;
          };
        } };
      };
    };
  };
  "/webhook_endpoints/{id}/test": {
    post: {
      parameters: {
        path: {
          id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Record<never, never> | null;
      } };
      responses: {
        202: { content: {
          "application/json": {
            object: "event";
            id: string;
            type: "task.succeeded" | "task.failed" | "task.canceled" | "task.expired" | "webhook.test";
            created: number;
            data: Record<never, never>;
          };
        } };
      };
    };
  };
  "/webhook_endpoints/{id}/deliveries": {
    get: {
      parameters: {
        query: {
          limit: number;
          after?: string;
          status?: "pending" | "succeeded" | "failed" | "dropped";
        };
        path: {
          id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "delivery";
              id: string;
              event_id: string;
              event_type: "task.succeeded" | "task.failed" | "task.canceled" | "task.expired" | "webhook.test";
              webhook_endpoint_id?: string;
              url: string;
              status: "pending" | "succeeded" | "failed" | "dropped";
              next_attempt_at?: string;
              created: number;
              attempts: ({
                number: number;
                attempted_at: string;
                duration_ms: number;
                status?: number;
                error?: "bad_status" | "redirect" | "timeout" | "unreachable" | "forbidden_address" | "bad_answer" | "internal_error";
                answer?: string;
              })[];
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/events": {
    get: {
      parameters: {
        query: {
          limit: number;
          after?: string;
          type?: "task.succeeded" | "task.failed" | "task.canceled" | "task.expired" | "webhook.test";
          task_id?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "event";
              id: string;
              type: "task.succeeded" | "task.failed" | "task.canceled" | "task.expired" | "webhook.test";
              created: number;
              data: Record<never, never>;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/events/{id}/deliveries": {
    get: {
      parameters: {
        query: {
          limit: number;
          after?: string;
        };
        path: {
          id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "delivery";
              id: string;
              event_id: string;
              event_type: "task.succeeded" | "task.failed" | "task.canceled" | "task.expired" | "webhook.test";
              webhook_endpoint_id?: string;
              url: string;
              status: "pending" | "succeeded" | "failed" | "dropped";
              next_attempt_at?: string;
              created: number;
              attempts: ({
                number: number;
                attempted_at: string;
                duration_ms: number;
                status?: number;
                error?: "bad_status" | "redirect" | "timeout" | "unreachable" | "forbidden_address" | "bad_answer" | "internal_error";
                answer?: string;
              })[];
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/events/{id}/resend": {
    post: {
      parameters: {
        path: {
          id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          webhook_endpoint_id?: string;
        } | null;
      } };
      responses: {
        202: { content: {
          "application/json": {
            object: "event";
            id: string;
            type: "task.succeeded" | "task.failed" | "task.canceled" | "task.expired" | "webhook.test";
            created: number;
            data: Record<never, never>;
          };
        } };
      };
    };
  };
  "/webhook_secret": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "webhook_secret";
            secret: string;
            previous_secret_expires_at?: string;
          };
        } };
      };
    };
  };
  "/webhook_secret/rotate": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Record<never, never> | null;
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "webhook_secret";
            secret: string;
            previous_secret_expires_at?: string;
          };
        } };
      };
    };
  };
  "/webhook_sessions": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Record<never, never> | null;
      } };
      responses: {
        201: { content: {
          "application/json": {
            object: "webhook_session";
            id: string;
            secret: string;
            listening_until: string;
            created: number;
          };
        } };
      };
    };
  };
  "/webhook_sessions/{id}": {
    delete: {
      parameters: {
        path: {
          id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            object: "webhook_session";
            deleted: true;
          };
        } };
      };
    };
  };
  "/webhook_sessions/{id}/events": {
    get: {
      parameters: {
        path: {
          id: string;
        };
        header?: {
          "last-event-id"?: string;
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "text/event-stream": string;
        } };
      };
    };
  };
  "/balance": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "balance";
            currency: string;
            available_balance: string;
            frozen_balance: string;
            cash_balance: string;
            gift_balance: string;
            quotas: {
              text: number;
              image: number;
              video: number;
            };
            plan: {
              name: string;
              expires_at: string;
            } | null;
          };
        } };
      };
    };
  };
  "/buckets": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "bucket";
              kind: "cash" | "gift" | "quota";
              unit: "money" | "text" | "image" | "video";
              balance: string;
              frozen: string;
              expires_at: string | null;
            })[];
            has_more: boolean;
          };
        } };
      };
    };
  };
  "/messages": {
    post: {
      parameters: {
        query?: {
          beta?: boolean;
        };
        header?: {
          "idempotency-key"?: string;
          "x-quote-id"?: string;
          "anthropic-version"?: string;
          "anthropic-beta"?: string;
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          model: string;
          messages: ({
            role: "user" | "assistant" | "system";
            content: string | ({
              type: string;
            })[];
          })[];
          system?: string | ({
            type: string;
          })[];
          tools?: ({
            type?: string | null;
            name?: string;
            description?: string;
            input_schema?: Record<never, never>;
            strict?: boolean | null;
            cache_control?: {
              type: "ephemeral";
              ttl?: "5m" | "1h" | null;
            } | null;
          })[];
          tool_choice?: {
            type: "auto" | "any" | "tool" | "none";
            name?: string;
            disable_parallel_tool_use?: boolean;
          };
          thinking?: {
            type: "enabled" | "adaptive" | "disabled" | "between_tools";
            budget_tokens?: number;
          } | null;
          output_config?: {
            effort?: "low" | "medium" | "high" | "xhigh" | "max" | null;
            format?: {
              type: "json_schema";
              schema: Record<never, never>;
            } | null;
          } | null;
          cache_control?: {
            type: "ephemeral";
            ttl?: "5m" | "1h" | null;
          } | null;
          max_tokens: number;
          stream?: boolean | null;
          stop_sequences?: (string)[] | null;
          temperature?: number | null;
          top_p?: number | null;
          top_k?: number | null;
          metadata?: {
            user_id?: string | null;
          } | null;
          service_tier?: "auto" | "standard_only" | null;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            type: "message";
            role: "assistant";
            model: string;
            content: ({
              type: string;
            })[];
            stop_reason: string;
            stop_sequence: string | null;
            usage: {
              input_tokens: number;
              cache_creation_input_tokens: number;
              cache_read_input_tokens: number;
              output_tokens: number;
              charge: string;
              cache_saving?: string;
            };
            stopped_by?: "insufficient_balance";
          };
        } };
      };
    };
  };
  "/messages/count_tokens": {
    post: {
      parameters: {
        query?: {
          beta?: boolean;
        };
        header?: {
          "anthropic-version"?: string;
          "anthropic-beta"?: string;
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          model: string;
          messages: ({
            role: "user" | "assistant" | "system";
            content: string | ({
              type: string;
            })[];
          })[];
          system?: string | ({
            type: string;
          })[];
          tools?: ({
            type?: string | null;
            name?: string;
            description?: string;
            input_schema?: Record<never, never>;
            strict?: boolean | null;
            cache_control?: {
              type: "ephemeral";
              ttl?: "5m" | "1h" | null;
            } | null;
          })[];
          tool_choice?: {
            type: "auto" | "any" | "tool" | "none";
            name?: string;
            disable_parallel_tool_use?: boolean;
          };
          thinking?: {
            type: "enabled" | "adaptive" | "disabled" | "between_tools";
            budget_tokens?: number;
          } | null;
          output_config?: {
            effort?: "low" | "medium" | "high" | "xhigh" | "max" | null;
            format?: {
              type: "json_schema";
              schema: Record<never, never>;
            } | null;
          } | null;
          cache_control?: {
            type: "ephemeral";
            ttl?: "5m" | "1h" | null;
          } | null;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            input_tokens: number;
          };
        } };
      };
    };
  };
  "/usage": {
    get: {
      parameters: {
        query?: {
          from?: string;
          to?: string;
          model?: string;
          key_id?: string;
          group_by?: string;
          format?: "json" | "csv";
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "usage";
            currency: string;
            time_zone: string;
            from: string;
            to: string;
            data: ({
              from?: string;
              to?: string;
              model?: string | null;
              key_id?: string | null;
              calls: number;
              input_tokens: number;
              cached_input_tokens: number;
              output_tokens: number;
              images: number;
              seconds: number;
              characters: number;
              charge: string;
              quota: {
                text: number;
                image: number;
                video: number;
              };
            })[];
            total: {
              calls: number;
              input_tokens: number;
              cached_input_tokens: number;
              output_tokens: number;
              images: number;
              seconds: number;
              characters: number;
              charge: string;
              quota: {
                text: number;
                image: number;
                video: number;
              };
            };
          };
        } };
      };
    };
  };
  "/charges": {
    get: {
      parameters: {
        query?: {
          from?: string;
          to?: string;
          model?: string;
          key_id?: string;
          task_id?: string;
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "charge";
              id: string;
              created: number;
              model: string | null;
              key_id: string | null;
              capability: string | null;
              cause: {
                kind: string;
                id: string;
              };
              task_id: string | null;
              request_id: string | null;
              charge: string;
              unit: "money" | "text" | "image" | "video";
              quota_units: number;
              summary: string;
              priced_by?: Record<string, string>;
              hung_up?: true;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/charges/{charge_id}": {
    get: {
      parameters: {
        path: {
          charge_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "charge";
            id: string;
            created: number;
            model: string | null;
            key_id: string | null;
            capability: string | null;
            cause: {
              kind: string;
              id: string;
            };
            task_id: string | null;
            request_id: string | null;
            charge: string;
            unit: "money" | "text" | "image" | "video";
            quota_units: number;
            summary: string;
            priced_by?: Record<string, string>;
            hung_up?: true;
            price: {
              id: string;
              model: string;
              billing_type: "token" | "per_call" | "duration";
              price?: string;
              input_price?: string;
              output_price?: string;
              cached_input_price?: string;
              cache_write_5m_price?: string;
              cache_write_1h_price?: string;
              audio_input_price?: string;
              reasoning_price?: string;
              audio_output_price?: string;
              unit: string;
              items?: ({
                item: string;
                price: string;
                above_input_tokens?: number;
                size?: string | number | boolean;
                resolution?: string | number | boolean;
                quality?: string | number | boolean;
                background?: string | number | boolean;
                input_fidelity?: string | number | boolean;
                input?: string | number | boolean;
                duration?: string | number | boolean;
                aspect_ratio?: string | number | boolean;
                frame_rate?: string | number | boolean;
                audio?: string | number | boolean;
                voice?: string | number | boolean;
              })[];
              tier_scope?: "call" | "part";
              service_tiers?: Record<string, string>;
              multiplier?: string;
              minimum_charge?: string;
              capability?: "chat" | "streaming" | "tools" | "vision" | "json_schema" | "reasoning" | "text_to_image" | "image_to_image" | "text_to_video" | "image_to_video" | "audio_driven_avatar" | "script_generation" | "role_analysis" | "storyboard" | "drama_video" | "text_to_speech" | "text_embedding" | "dimensions" | "transcription" | "translation" | "timestamps" | "diarization";
              effective_at: string;
              is_current: boolean;
            } | null;
            items: ({
              name: string;
              quantity: number;
              rate: string;
              per: number;
              amount: string;
              price_id?: string;
            })[];
            minimum_charge: string;
            quote_discount?: string;
            cost: string;
            cache_saving?: string;
            lost: string;
            buckets: ({
              kind: "cash" | "gift" | "quota";
              amount: string;
              expires_at: string | null;
            })[];
            held: string;
            balance_after: string | null;
            refunds: ({
              id: string;
              created: number;
              amount: string;
            })[];
          };
        } };
      };
    };
  };
  "/ledger": {
    get: {
      parameters: {
        query?: {
          from?: string;
          to?: string;
          limit?: number;
          after?: string;
          format?: "json" | "csv";
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "ledger.entry";
              id: string;
              created: number;
              kind: "charge" | "refund" | "top_up" | "grant" | "adjustment" | "reversal" | "expiry";
              unit: "money" | "text" | "image" | "video";
              amount: string;
              balance: string;
              bucket: {
                kind: "cash" | "gift" | "quota";
                balance: string;
                expires_at: string | null;
              };
              description: string;
              cause: {
                kind: string;
                id: string;
              };
              charge_id: string | null;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/holds": {
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "hold";
              id: string;
              amount: string;
              unit: "money" | "text" | "image" | "video";
              key_id: string | null;
              cause: {
                kind: string;
                id: string;
              };
              task_id: string | null;
              model: string | null;
              opened: number;
              expires: number;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/requests": {
    get: {
      parameters: {
        query?: {
          from?: string;
          to?: string;
          model?: string;
          key_id?: string;
          wire?: "models" | "pricing" | "quotes" | "completions" | "chat" | "responses" | "messages" | "balance" | "usage" | "requests" | "files" | "images" | "videos" | "avatars" | "dramas" | "embeddings" | "speech" | "transcriptions" | "tasks" | "webhooks";
          status?: string;
          error_code?: string;
          client_request_id?: string;
          ids?: string;
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "request";
              id: string;
              created: number;
              created_at: string;
              client_request_id: string | null;
              key_id: string;
              wire: "models" | "pricing" | "quotes" | "completions" | "chat" | "responses" | "messages" | "balance" | "usage" | "requests" | "files" | "images" | "videos" | "avatars" | "dramas" | "embeddings" | "speech" | "transcriptions" | "tasks" | "webhooks" | null;
              method: string;
              route: string | null;
              model: string | null;
              status: number;
              error_code: string | null;
              error_message: string | null;
              error_param: string | null;
              ending: "answered" | "refused" | "failed" | "hung_up" | "broken_off";
              latency_ms: number;
              time_to_first_token_ms: number | null;
              tokens: {
                input: number;
                cached_input: number;
                cache_writes: number;
                audio_input: number;
                output: number;
                reasoning: number;
                audio_output: number;
              } | null;
              charge: string | null;
              charge_id: string | null;
              task_id: string | null;
              user_agent: string | null;
              replayed: boolean;
              has_content: boolean;
            })[];
            has_more: boolean;
            next_cursor: string | null;
            gaps: ({
              from: string;
              to: string;
              lost: number;
            })[];
          };
        } };
      };
    };
  };
  "/requests/summary": {
    get: {
      parameters: {
        query?: {
          from?: string;
          to?: string;
          model?: string;
          key_id?: string;
          wire?: "models" | "pricing" | "quotes" | "completions" | "chat" | "responses" | "messages" | "balance" | "usage" | "requests" | "files" | "images" | "videos" | "avatars" | "dramas" | "embeddings" | "speech" | "transcriptions" | "tasks" | "webhooks";
          status?: string;
          error_code?: string;
          client_request_id?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "request_summary";
            from: string;
            to: string;
            partial: boolean;
            bucket_seconds: number;
            buckets: ({
              from: string;
              count: number;
              "1xx": number;
              "2xx": number;
              "3xx": number;
              "4xx": number;
              "5xx": number;
              hung_up: number;
              latency_ms: {
                p50: number;
                p95: number;
                p99: number;
              } | null;
              time_to_first_token_ms: {
                p50: number;
                p95: number;
                p99: number;
              } | null;
            })[];
            total: {
              count: number;
              "1xx": number;
              "2xx": number;
              "3xx": number;
              "4xx": number;
              "5xx": number;
              hung_up: number;
              latency_ms: {
                p50: number;
                p95: number;
                p99: number;
              } | null;
              time_to_first_token_ms: {
                p50: number;
                p95: number;
                p99: number;
              } | null;
            };
            errors: ({
              code: string;
              count: number;
            })[];
          };
        } };
      };
    };
  };
  "/requests/export": {
    get: {
      parameters: {
        query?: {
          from?: string;
          to?: string;
          model?: string;
          key_id?: string;
          wire?: "models" | "pricing" | "quotes" | "completions" | "chat" | "responses" | "messages" | "balance" | "usage" | "requests" | "files" | "images" | "videos" | "avatars" | "dramas" | "embeddings" | "speech" | "transcriptions" | "tasks" | "webhooks";
          status?: string;
          error_code?: string;
          client_request_id?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "text/csv": string;
        } };
      };
    };
  };
  "/requests/{request_id}": {
    get: {
      parameters: {
        path: {
          request_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "request";
            id: string;
            created: number;
            created_at: string;
            client_request_id: string | null;
            key_id: string;
            wire: "models" | "pricing" | "quotes" | "completions" | "chat" | "responses" | "messages" | "balance" | "usage" | "requests" | "files" | "images" | "videos" | "avatars" | "dramas" | "embeddings" | "speech" | "transcriptions" | "tasks" | "webhooks" | null;
            method: string;
            route: string | null;
            model: string | null;
            status: number;
            error_code: string | null;
            error_message: string | null;
            error_param: string | null;
            ending: "answered" | "refused" | "failed" | "hung_up" | "broken_off";
            latency_ms: number;
            time_to_first_token_ms: number | null;
            tokens: {
              input: number;
              cached_input: number;
              cache_writes: number;
              audio_input: number;
              output: number;
              reasoning: number;
              audio_output: number;
            } | null;
            charge: string | null;
            charge_id: string | null;
            task_id: string | null;
            user_agent: string | null;
            replayed: boolean;
            has_content: boolean;
          };
        } };
      };
    };
  };
  "/requests/{request_id}/content": {
    get: {
      parameters: {
        path: {
          request_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "request_content";
            id: string;
            state: "kept" | "lost" | "deleted";
            expires_at: string;
            request: {
              content_type: string | null;
              bytes: number | null;
              text: string | null;
              truncated: boolean;
              left_out: number;
              hidden: number;
            } | null;
            answer: {
              content_type: string | null;
              bytes: number | null;
              text: string | null;
              truncated: boolean;
              left_out: number;
              hidden: number;
            } | null;
          };
        } };
      };
    };
    delete: {
      parameters: {
        path: {
          request_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "request_content";
            id: string;
            state: "kept" | "lost" | "deleted";
            expires_at: string;
            request: {
              content_type: string | null;
              bytes: number | null;
              text: string | null;
              truncated: boolean;
              left_out: number;
              hidden: number;
            } | null;
            answer: {
              content_type: string | null;
              bytes: number | null;
              text: string | null;
              truncated: boolean;
              left_out: number;
              hidden: number;
            } | null;
          };
        } };
      };
    };
  };
  "/images/edits": {
    post: {
      parameters: {
        header?: {
          "idempotency-key"?: string;
          prefer?: string;
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "multipart/form-data": {
          image: (string)[];
          model: string;
          prompt: string;
          size?: string | null;
          n?: number | null;
          resolution?: string;
          seed?: number;
          negative_prompt?: string;
          response_format?: "url" | "b64_json" | null;
          output_format?: "png" | "jpeg" | "webp" | null;
          output_compression?: number | null;
          quality?: string | null;
          style?: string | null;
          moderation?: string | null;
          input_fidelity?: string | null;
          background?: string | null;
          user?: string | null;
          stream?: boolean | null;
          partial_images?: number | null;
          callback_url?: string;
          metadata?: Record<string, string>;
          expires_after?: number;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            id: string;
            object: "generation.task";
            type: "image" | "video" | "avatar" | "drama" | "speech";
            model: string;
            prompt?: string;
            prompt_erased_at?: string;
            status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
            progress: number;
            output: ({
              type: string;
              file_id: string;
              url: string;
              content_type: string;
              bytes: number;
              sha256: string;
              width?: number;
              height?: number;
              duration?: number;
              expires_at: string;
            })[];
            data?: ({
              url?: string;
              b64_json?: string;
              revised_prompt?: string;
            })[];
            usage: {
              total_units: number;
              charge?: string;
              estimated_charge: string;
              input_tokens?: 0;
              input_tokens_details?: {
                image_tokens: 0;
                text_tokens: 0;
              };
              output_tokens?: 0;
              total_tokens?: 0;
            };
            created: number;
            request_id: string;
            updated_at: string;
            error?: {
              code: string;
              message: string;
              param: string | null;
              retryable: boolean;
            };
            warnings?: ({
              code: string;
              message: string;
            })[];
            metadata?: Record<string, string>;
            client_request_id?: string;
            queue_position?: number;
            started_at?: string;
            finished_at?: string;
            expires_at?: string;
            parent_id?: string;
            steps?: ({
              name: string;
              status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
              progress: number;
              output: ({
                type: string;
                file_id: string;
                url: string;
                content_type: string;
                bytes: number;
                sha256: string;
                width?: number;
                height?: number;
                duration?: number;
                expires_at: string;
              })[];
              charge: string;
              task_ids: (string)[];
            })[];
          };
        } };
        202: { content: {
          "application/json": {
            id: string;
            object: "generation.task";
            type: "image" | "video" | "avatar" | "drama" | "speech";
            model: string;
            prompt?: string;
            prompt_erased_at?: string;
            status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
            progress: number;
            output: ({
              type: string;
              file_id: string;
              url: string;
              content_type: string;
              bytes: number;
              sha256: string;
              width?: number;
              height?: number;
              duration?: number;
              expires_at: string;
            })[];
            data?: ({
              url?: string;
              b64_json?: string;
              revised_prompt?: string;
            })[];
            usage: {
              total_units: number;
              charge?: string;
              estimated_charge: string;
            };
            created: number;
            request_id: string;
            updated_at: string;
            error?: {
              code: string;
              message: string;
              param: string | null;
              retryable: boolean;
            };
            warnings?: ({
              code: string;
              message: string;
            })[];
            metadata?: Record<string, string>;
            client_request_id?: string;
            queue_position?: number;
            started_at?: string;
            finished_at?: string;
            expires_at?: string;
            parent_id?: string;
            steps?: ({
              name: string;
              status: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
              progress: number;
              output: ({
                type: string;
                file_id: string;
                url: string;
                content_type: string;
                bytes: number;
                sha256: string;
                width?: number;
                height?: number;
                duration?: number;
                expires_at: string;
              })[];
              charge: string;
              task_ids: (string)[];
            })[];
          };
        } };
      };
    };
  };
  "/audio/transcriptions": {
    post: {
      parameters: {
        header?: {
          "idempotency-key"?: string;
          "x-quote-id"?: string;
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "multipart/form-data": {
          file: string;
          model: string;
          prompt?: string;
          temperature?: number;
          language?: string;
          response_format?: "json" | "text" | "srt" | "verbose_json" | "vtt" | "diarized_json";
          timestamp_granularities?: ("segment" | "word")[];
          include?: ("logprobs")[];
          stream?: boolean;
          chunking_strategy?: "auto" | {
            type: "server_vad";
            prefix_padding_ms?: number;
            silence_duration_ms?: number;
            threshold?: number;
          };
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            text: string;
            task?: "transcribe" | "translate";
            language?: string;
            duration?: number;
            segments?: ({
              id: number;
              seek: number;
              start: number;
              end: number;
              text: string;
              tokens: (number)[];
              temperature: number;
              avg_logprob: number;
              compression_ratio: number;
              no_speech_prob: number;
            } | {
              type: "transcript.text.segment";
              id: string;
              start: number;
              end: number;
              text: string;
              speaker: string;
            })[];
            words?: ({
              word: string;
              start: number;
              end: number;
            })[];
            logprobs?: ({
              token: string;
              logprob: number;
              bytes: (number)[];
            })[];
            usage: {
              type: "duration";
              seconds: number;
              charge: string;
            } | {
              type: "tokens";
              input_tokens: number;
              output_tokens: number;
              total_tokens: number;
              input_token_details: {
                audio_tokens: number;
                text_tokens: number;
              };
              charge: string;
            };
          };
        } };
      };
    };
  };
  "/audio/translations": {
    post: {
      parameters: {
        header?: {
          "idempotency-key"?: string;
          "x-quote-id"?: string;
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "multipart/form-data": {
          file: string;
          model: string;
          prompt?: string;
          temperature?: number;
          response_format?: "json" | "text" | "srt" | "verbose_json" | "vtt";
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            text: string;
            task?: "transcribe" | "translate";
            language?: string;
            duration?: number;
            segments?: ({
              id: number;
              seek: number;
              start: number;
              end: number;
              text: string;
              tokens: (number)[];
              temperature: number;
              avg_logprob: number;
              compression_ratio: number;
              no_speech_prob: number;
            } | {
              type: "transcript.text.segment";
              id: string;
              start: number;
              end: number;
              text: string;
              speaker: string;
            })[];
            words?: ({
              word: string;
              start: number;
              end: number;
            })[];
            logprobs?: ({
              token: string;
              logprob: number;
              bytes: (number)[];
            })[];
            usage: {
              type: "duration";
              seconds: number;
              charge: string;
            } | {
              type: "tokens";
              input_tokens: number;
              output_tokens: number;
              total_tokens: number;
              input_token_details: {
                audio_tokens: number;
                text_tokens: number;
              };
              charge: string;
            };
          };
        } };
      };
    };
  };
};
