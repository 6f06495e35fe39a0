"""Secrets and personal data are found, and what only looks like them is left alone.

What looks like a secret is put together here from parts, so that no scanner takes this file for one
that holds any.
"""

from __future__ import annotations

import random
import string

import pytest

from qmd.experiences import secrets
from qmd.experiences.secrets import SecretFinding

_CHANCE = random.Random(11)


def some(count: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    """Random characters, some digits among them."""
    return "4" + "".join(_CHANCE.choices(alphabet, k=count - 2)) + "7"


HEX = string.digits + "abcdef"
UPPER = string.ascii_uppercase + "234567"
KEY = "PRIVATE " + "KEY-----"
BASE64 = some(64, string.ascii_letters + string.digits + "+/")
JWT = f"ey{'J'}{some(20)}.ey{'J'}{some(40)}.{some(43)}"
WORD = "hunt" + "er2"
STRONG = "Tr0ub" + "4dor&3"

SECRETS = [
    ("private_key", f"-----BEGIN RSA {KEY}\n{BASE64}\n-----END RSA {KEY}"),
    ("private_key", f"-----BEGIN {KEY}\\n{BASE64}"),
    ("private_key", f"cat id_ed25519\n-----BEGIN OPENSSH {KEY}\nb3BlbnNzaC1rZXk"),
    ("private_key", f"-----BEGIN EC {KEY} {BASE64}"),
    ("private_key", f"-----BEGIN PGP {KEY[:-5]} BLOCK-----\n\nlQdGBF"),
    ("private_key", f"key = '''-----BEGIN {KEY}"),
    ("aws_access_key", "aws configure set id AK" + "IA" + some(16, UPPER).upper()),
    ("aws_access_key", "AS" + "IA" + some(16, UPPER) + " from the role"),
    ("github_token", "git push with gh" + "p_" + some(36)),
    ("github_token", "gh" + "s_" + some(36)),
    ("github_token", "github" + "_pat_" + some(22) + "_" + some(59)),
    ("gitlab_token", "GITLAB=gl" + "pat-" + some(20)),
    ("slack_token", "xox" + f"b-{some(12, string.digits)}-{some(12, string.digits)}-{some(24)}"),
    ("slack_token", "xap" + f"p-1-{some(11, UPPER)}-{some(13, string.digits)}-{some(64, HEX)}"),
    ("slack_token", f"https://hooks.slack.com/ser{'vices'}/T{some(8)}/B{some(8)}/{some(24)}"),
    ("api_key", "s" + "k-" + some(48)),
    ("api_key", "s" + "k-proj-" + some(20) + "_" + some(24)),
    ("api_key", "export K=s" + "k-ant-api03-" + some(60)),
    ("google_key", "?key=AI" + "za" + some(35)),
    ("google_key", "GOC" + "SPX-" + some(28)),
    ("stripe_key", "s" + "k_live_" + some(24)),
    ("stripe_key", "r" + "k_test_" + some(24)),
    ("npm_token", "//registry.npmjs.org/:_authToken=np" + "m_" + some(36)),
    ("pypi_token", "py" + "pi-AgEIcHlwaS5vcmc" + some(80)),
    ("huggingface_token", "login('h" + "f_" + some(34) + "')"),
    ("jwt", f"cookie session={JWT}"),
    ("jwt", f"Authorization: Bearer {JWT}"),
    ("bearer_token", "curl -H 'Authorization: Bear" + f"er {some(32)}'"),
    ("bearer_token", "bear" + "er " + "abcdefghijklmnopqrst"),
    ("basic_credentials", "Authorization: Bas" + f"ic {some(24)}=="),
    ("url_password", f"postgres://admin:{WORD}@db/app"),
    ("url_password", "https://user:pass@git.acme.io/repo.git"),
    ("url_password", f"redis://:{some(12)}@cache:6379/0"),
    ("url_password", f"mongodb+srv://app:{some(16)}@cluster0.mongodb.net"),
    ("assigned_secret", f"password={WORD}"),
    ("assigned_secret", f"password = '{STRONG}'"),
    ("assigned_secret", f'{{"user": "bob", "password": "{WORD}"}}'),
    ("assigned_secret", f"Password: {STRONG}"),
    ("assigned_secret", "mysql -u app --password=" + "letmein"),
    ("assigned_secret", "Server=db;User=sa;Password=" + "letmein;"),
    ("assigned_secret", f"export DB_PASSWORD={some(10)}"),
    ("assigned_secret", f'client_secret: str = "{some(24)}"'),
    ("assigned_secret", f"'secret' => '{some(24)}',"),
    ("assigned_secret", f"config['token'] = '{some(24)}'"),
    ("assigned_secret", f"api_key: {some(32, HEX)}"),
    ("assigned_secret", f"X-Api-Key: {some(32)}"),
    ("assigned_secret", f"GET /items?token={some(20)}&page=2"),
    ("assigned_secret", f'body = "{{\\"apiKey\\": \\"{some(24)}\\"}}"'),
    ("assigned_secret", f"aws_secret_access_key = {some(40)}"),
    ("assigned_secret", f"SECRET_KEY_BASE={some(64, HEX)}"),
    ("assigned_secret", "JWT_SECRET=" + "my-super-secret-signing-phrase"),
    ("assigned_secret", f"if password == '{STRONG}': login()"),
    ("assigned_secret", "passphrase: correct-h0rse-b4ttery-st4ple"),
    ("assigned_secret", "password: 'correct " + "horse battery'"),
    ("assigned_secret", 'PASSPHRASE="Correct ' + 'Horse Battery Staple"'),
    ("assigned_secret", "secret = `walnut " + "ferry cobalt 42 drum`"),
    ("assigned_secret", '{"password": "dear d0g ' + f'{WORD}"}}'),
    ("assigned_secret", 'body = "{\\"pwd\\": \\"walnut ' + 'ferry cobalt\\"}"'),
    ("assigned_secret", 'password: "unending ' + 'gravel backing otter"'),
    ("assigned_secret", f"DB_PASSWORD=${{DB_PASSWORD:-{WORD}}}"),
    ("assigned_secret", f'export TOKEN="${{TOKEN:-{some(20)}}}"'),
    ("assigned_secret", f"password: ${{PG_PW:-{STRONG}}}"),
    ("assigned_secret", f"psql -d ${{DB_PASSWORD-{WORD}}}"),
    ("assigned_secret", f": ${{API_KEY:='{some(20)}'}}"),
    ("assigned_secret", f'os.environ.get("API_KEY", "{some(20)}")'),
    ("assigned_secret", f"token = os.getenv('CI_JOB', '{some(20)}')"),
    ("assigned_secret", f"const t = process.env.API_TOKEN || '{some(20)}';"),
    ("assigned_secret", f'import.meta.env["CLIENT_SECRET"] ?? "{some(20)}"'),
]

PERSONAL = [
    ("email", "Reported by jane.doe" + "@acme.io yesterday"),
    ("email", "git config user.email bob" + "@mail.acme.co.uk"),
    ("ip_address", "ssh 10." + "12.0.7 first"),
    ("ip_address", "http://192.168" + ".1.20:8080/health"),
    ("ip_address", "resolver 8.8" + ".8.8;"),
    ("internal_host", "curl https://billing.prod" + ".internal/health"),
    ("internal_host", "ping build-7" + ".corp"),
    ("internal_host", "nas" + ".local is down"),
    ("internal_host", "smb://files" + ".lan/share"),
    ("home_folder", "File '/home/" + "jdoe/app/main.py', line 3"),
    ("home_folder", "/Users/" + "janedoe/Library/Caches"),
    ("home_folder", "C:\\Users\\" + "jane.doe\\AppData"),
    ("home_folder", "/mnt/c/Users/" + "Jane/project"),
]

HARMLESS = [
    "The password must be at least 12 characters long and contain one digit.",
    "Reset your password: open Settings, then Security.",
    "Password: required. Token: optional.",
    'export DB_PASSWORD="$DB_PASSWORD"',
    "DB_PASSWORD=${DB_PASSWORD:?set it}",
    "password=$1",
    "password: <your password>",
    "password = '<password>'",
    "password: ********",
    'api_key = "..."',
    'token = "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"',
    "AWS_ACCESS_KEY_ID=AKIAXXXXXXXXXXXXXXXX",
    'api_key = os.environ["API_KEY"]',
    'password = os.getenv("DB_PASSWORD", "")',
    "const token = process.env.GITHUB_TOKEN;",
    "token: process.env['GITHUB_TOKEN'] ?? ''",
    "password = getpass.getpass('Password: ')",
    'password = input("Password: ")',
    "self.token = token",
    "user.password = new_password",
    "connect(user=user, password=password, timeout=30)",
    "client = Client(api_key=settings.openai_api_key)",
    "def login(user: str, password: str | None = None) -> Token:",
    "password: string;\n  token?: string;",
    "if password is None or token == '':",
    'headers = {"Authorization": f"Bearer {token}"}',
    "Authorization: Bearer YOUR_ACCESS_TOKEN",
    "Authorization: Bearer <token>",
    "curl -H 'Authorization: Bearer $TOKEN' https://api.acme.io",
    "Use bearer token-based-authentication for the gateway.",
    "token = secrets.token_urlsafe(32)",
    "secret: !Ref DatabaseSecret",
    "secretKeyRef:\n  name: app-secrets\n  key: db-password",
    "secret: db-credentials-v1",
    'env:\n  - name: TOKEN\n    value: "{{ .Values.token }}"',
    "github_token: ${{ secrets.GITHUB_TOKEN }}",
    'password = "changeme"  # replace before you deploy',
    'api_key = "your-api-key-here"',
    "postgres://user:$PASSWORD@db/app",
    "postgres://user:<password>@db/app and amqp://app:***@mq",
    "https://github.com/org/repo.git, git@github.com:org/repo.git",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b fixes it",
    "request 550e8400-e29b-41d4-a716-446655440000 failed",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9Q"
    "DwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "The file has to begin with -----BEGIN OPENSSH PRIVATE KEY----- or ssh says 'invalid format'.",
    "-----BEGIN PRIVATE KEY-----\n<your key>\n-----END PRIVATE KEY-----",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE",
    "max_tokens = 4096, token_count: 128000, tokenizer = load('bert-base-uncased')",
    'password_field = "user_password"; grant_type=password',
    'labels = {"password": "Password", "token": "form.errors.token"}',
    'token: "GITHUB_TOKEN", secret: "/run/secrets/db", url: "https://auth.acme.io/token"',
    "password VARCHAR(255) NOT NULL, token uuid",
    'labels = {"password": "Reset password", "secret": "Client secret of the app"}',
    "password: 'must be at least 12 characters', pwd: \"Enter it twice\"",
    'errors.password = "Too short, try again"; t("password", "Wrong email or password")',
    '{"password": "Mot de passe", "pass": "Bitte Kennwort eingeben", "pwd": "La clave secreta"}',
    "secret: 'kubectl get secret db', password: `openssl rand -hex 32`",
    "The password: 'it is printed in the log', they said. The secret: 'no magic at all'.",
    'secret = "RSA 2048-bit", password: "bcrypt v2 hash", passphrase = "PBKDF2 SHA-256"',
    "secret: 'rotate every month', pwd = 'print working directory', secret: 'sealed via kubeseal'",
    "pass: 'all tests green', PASS: 'checkout flow works', \"secret\": \"Opaque Secret\"",
    "API_KEY=${API_KEY:-sk-xxx} TOKEN_TTL=${TOKEN_TTL:-3600} TOKEN='ghp_XXX'",
    "set the password: 'tis in the vault, don't share it",
    "title: \"Forgot your password?\", password: 'Forgot Your Password'",
    "image: ${TOKEN_IMAGE:-registry.acme.io/app:1.2}, mode: ${MODE:-production2}",
    "password: ${DB_PASSWORD:-changeme}, token: ${TOKEN:-$CI_TOKEN}, ${SECRET:-}, ${TOKEN:-none}",
    "TOKEN=${TOKEN:-$(cat /run/secrets/token)} PASSWORD_FILE=${PASSWORD_FILE:-/run/secrets/pw1}",
    'os.environ.get("DB_PASSWORD", "postgres"), os.getenv("REGION", "eu-central-1")',
    "process.env.API_TOKEN || '', process.env.PORT || '8080', process.env.SECRET ?? 'your-secret'",
    "jwt algorithms: RS256, HS256; secret: base64-encoded, 32-byte",
    ".sk-circle-fade-dot-container { animation: sk-circle-fade 1.2s }",
    "Listen on 127.0.0.1:8080 or 0.0.0.0; the example net is 192.0.2.10, 203.0.113.7.",
    "Chrome/120.0.6099.109, version v1.2.3.4, netmask 255.255.255.0",
    "Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089",
    "## 2.7.2.1 Clauses\n\nsee section 3.5.2.1, ISO 4.9.6.2 and N4800 11.3.3.2",
    "CAccessToken::~CAccessToken(); x = idx.local[0]; kex: curve25519-sha256@libssh.org",
    "mail someone@example.com, ops@mail.example.org or root@localhost",
    "import logo from './logo@2x.png'; npm i lodash@4.17.21; @app.route('/')",
    "cp .env.local .env; ls ~/.local/bin /usr/local/lib; import sun.internal.misc.Unsafe",
    "threading.local(); host.docker.internal:5432",
    "/home/user/app, /Users/<name>/app, $HOME/app, ~/app, /home/runner/work",
    "qmd reads https://acme.io/home/products and a/home/page",
]


def rules(text: str, *, strict: bool) -> list[str]:
    return [finding.rule for finding in secrets.find_secrets("context", text, strict=strict)]


@pytest.mark.parametrize(("rule", "text"), SECRETS)
def test_a_secret_is_found_in_any_field(rule, text):
    assert rules(text, strict=False) == [rule]
    assert rule in rules(
        f"It failed after an upgrade.\n\n    {text}\n\nSo we changed it.", strict=True
    )


@pytest.mark.parametrize(("rule", "text"), PERSONAL)
def test_persons_and_inner_machines_are_found_where_the_rules_are_strict(rule, text):
    assert rules(text, strict=True) == [rule]
    assert rules(text, strict=False) == []


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_speaks_of_secrets_is_left_alone(text):
    assert rules(text, strict=True) == []


def test_a_finding_tells_where_and_how_long_but_not_what():
    text = f"one\r\ntwo: token = '{some(20)}'\nthree\npassword={WORD}"
    assert secrets.find_secrets("solution", text, strict=False) == [
        SecretFinding("solution", "assigned_secret", 2, 20),
        SecretFinding("solution", "assigned_secret", 4, len(WORD)),
    ]


def test_a_secret_that_fits_several_rules_is_told_once_as_the_most_telling():
    assert rules(f"token = 'gh{'p_'}{some(36)}'", strict=True) == ["github_token"]


def test_no_more_is_told_than_helps():
    text = f"password={WORD}\n" * (2 * secrets.MAX_FINDINGS)
    assert len(secrets.find_secrets("context", text, strict=True)) == secrets.MAX_FINDINGS


@pytest.mark.parametrize(
    "piece",
    [
        "password=", "password: ", "token ", "secret_key", "eyJ", "eyJ-", "eyJaaaaaaaaa.", "a@",
        "a@b.", "a.", "1.", "://", "://a:", "bearer ", "-----BEGIN ", "-----BEGIN RSA ", "sk-",
        "github_pat_", "xoxb-", "/home/", "a.local.", ".lan ", "{", "token='{", 'token="<', "[",
        "token:a ", "token: a|", "${a:-b}", "${", "a=${b-", "secret='a b ", "env(", 'env["a"]||',
         " ", "\t", "a", "0", "\\", '"', "a-", "C:\\Users\\",
    ],
)  # fmt: skip
def test_a_long_text_of_one_piece_is_read_to_its_end(piece):
    """If a pattern tried each start to the end of the text, this would take hours."""
    text = (piece * 65_536)[:65_536] + f"\npassword={WORD}"
    assert rules(text, strict=True)
