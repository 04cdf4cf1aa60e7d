#!/usr/bin/env bash
# No secret of the environment gets into a store, a log, a cache or a script for Slurm: fifty variables with a random
# value each, then a search for every value through every file that was written.
source "$(dirname "${BASH_SOURCE[0]}")/slurm_common.sh" "$@"
options=(--set train.steps=5)
names=(
  AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AZURE_CLIENT_SECRET GOOGLE_API_KEY HF_TOKEN HUGGING_FACE_HUB_TOKEN WANDB_API_KEY
  COMET_API_KEY NEPTUNE_API_TOKEN CLEARML_API_SECRET_KEY MLFLOW_TRACKING_PASSWORD GITHUB_TOKEN GH_TOKEN GITLAB_TOKEN CI_JOB_TOKEN
  OPENAI_API_KEY ANTHROPIC_API_KEY KAGGLE_KEY NPM_TOKEN PYPI_PASSWORD TWINE_PASSWORD DOCKER_PASSWORD VAULT_TOKEN PGPASSWORD
  MYSQL_PWD DATABASE_URL SSH_KEY_PASSPHRASE SENTRY_DSN SLACK_WEBHOOK_URL NETRC
  SLURM_JWT SLURM_API_KEY SLURM_REST_TOKEN SLURM_DB_PASSWORD NCCL_ACCESS_TOKEN NCCL_PRIVATE CUDA_LICENSE_KEY CUDA_DB_PASSWORD
  OMP_SECRET_NAME OMP_JWT MKL_API_KEY MKL_AUTH OMPI_MCA_access_token OMPI_MCA_sec_credential OMPI_MCA_my_cert DEPTHGRID_API_KEY
  DEPTHGRID_SECRET DEPTHGRID_db_password DEPTHGRID_cookie DEPTHGRID_SIGNATURE
)
[ "$(printf '%s\n' "${names[@]}" | sort -u | wc -l)" = 50 ] || fail "there are not fifty names"
for name in "${names[@]}"; do
  value=canary-$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
  export "$name=$value"
  echo "$value" >>values
done
export DEPTHGRID_PROXY="https://user:$(head -n 1 values)@proxy/" OMP_BYTES=$'\xff\xfe'

# none WHERE...: no value is in any of these files or folders.
none() {
  if grep -rlaF -f values "$@"; then fail "a secret is in $*"; fi
}
mkdir patterns-work && echo "x $(tail -n 1 values) y" >patterns-work/file
if (none patterns-work) >/dev/null 2>&1; then fail "the search finds nothing"; fi

train kept
ranks 2 kept-by-two
expect 0 "$depthgrid" status kept --json
none out
expect 0 "$depthgrid" logs hidden=4,s0 kept --json
none out
expect 0 "$depthgrid" cancel hidden=4,s0 kept
expect 0 "$depthgrid" plan "$sweep" --json
none out kept kept-by-two "$XDG_CACHE_HOME"
[ -n "$(ls kept/logs)" ] || fail "there are no logs to search"
expect 0 h5dump -d /attempt_environment kept/sweep.h5
says out 'https://proxy/'
none out
# Launches that are watched: their logs and records.
expect 0 "$depthgrid" run "$sweep" "${options[@]}" --store watched -j 2 -q
[ -n "$(ls watched/launches/*/attempt-1.log watched/launches/*/attempt-1.json)" ] || fail "no launches to search"
none watched
# Scripts for Slurm: of a dry run, and where there is a Slurm, of a submission with all that its tasks write.
expect 0 "$depthgrid" submit "$sweep" --set train.steps=6 --store kept --dry-run
says out "#SBATCH --array=0-"
says out "exec "
none out err
if has_slurm; then
  unset SLURM_JWT # Slurm's own commands would show it to the controller
  start_lab 2 0
  expect 0 "$depthgrid" submit "$sweep" --set train.steps=6 --set resources.lease=5 --store submitted --canary
  none out err
  wait_for 90 "end of the tasks" queue_empty
  expect 0 "$depthgrid" status submitted --json
  check "j['counts']['completed'] == 4"
  for written in array-0.sbatch array-1.sbatch submission.json tasks.txt logs; do
    [ -n "$(ls submitted/submissions/*/$written)" ] || fail "no $written to search"
  done
  none submitted
else
  echo "no submission: Slurm is not installed"
fi
