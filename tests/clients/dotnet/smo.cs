// What SSMS, dbatools and Azure Data Studio do first: SMO's objects, filled from a node. Late bound: the compiler needs no SMO.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;

static class Smo {
    // Properties that SMO refuses or leaves out by itself, whatever the server is.
    static readonly string[] Own = { "UnsupportedFeatureException", "UnsupportedVersionException", "UnknownPropertyException",
        "PropertyCannotBeRetrievedException", "InvalidQueryExpressionEnumeratorException", "InvalidConfigurationFileEnumeratorException",
        "NullReferenceException" };
    static readonly string[] Skipped = { "Parent", "Urn", "Events", "Properties", "UserData", "ExecutionManager" };

    static object New(string assembly, string type, params object[] arguments) {
        return Activator.CreateInstance(Assembly.Load("Microsoft.SqlServer." + assembly).GetType("Microsoft.SqlServer.Management." + type), arguments);
    }

    static dynamic Server() {
        dynamic c = New("ConnectionInfo", "Common.ServerConnection");
        c.ServerInstance = "tcp:" + Environment.GetEnvironmentVariable("CLIENT_HOST") + "," + Environment.GetEnvironmentVariable("CLIENT_PORT");
        c.LoginSecure = false;
        c.Login = "sa";
        c.Password = Environment.GetEnvironmentVariable("CLIENT_PASSWORD");
        c.EncryptConnection = true;
        c.TrustServerCertificate = true;
        return New("Smo", "Smo.Server", (object)c);
    }

    // Every property of an object, collections counted. Only what the node answered with an error is kept.
    static void Fill(object o, ISet<string> errors) {
        foreach (PropertyInfo p in o.GetType().GetProperties().Where(p => p.GetIndexParameters().Length == 0 && !Skipped.Contains(p.Name)))
            try {
                var many = p.GetValue(o) as ICollection;
                if (many != null) foreach (object one in many) { }
            } catch (Exception problem) {
                while (problem.InnerException != null) problem = problem.InnerException;
                if (!Own.Contains(problem.GetType().Name)) errors.Add(o.GetType().Name + "." + p.Name + ": " + problem.Message);
            }
    }

    public static object Groups() {
        dynamic server = Server();
        var seen = new List<object>();
        var errors = new SortedSet<string>();
        foreach (dynamic g in server.AvailabilityGroups) {
            Fill((object)g, errors);
            foreach (dynamic r in g.AvailabilityReplicas) {
                Fill((object)r, errors);
                seen.Add(g.Name + " " + r.Name + " " + r.Role + " " + r.AvailabilityMode);
            }
            foreach (dynamic d in g.AvailabilityDatabases) seen.Add(g.Name + " " + d.Name + " " + d.SynchronizationState);
            foreach (dynamic s in g.DatabaseReplicaStates) Fill((object)s, errors);
        }
        return seen.Concat(errors).ToList();
    }

    public static object Objects() {
        dynamic server = Server();
        var errors = new SortedSet<string>();
        Fill((object)server, errors);
        foreach (object part in new object[] { server.Information, server.Settings, server.Configuration }) Fill(part, errors);
        dynamic database = server.Databases["OLTP"];
        Fill((object)database, errors);
        var seen = new List<object> { server.Edition, server.Information.Processors > 0, database.RecoveryModel.ToString(), database.Size > 0 };
        foreach (dynamic group in database.FileGroups)
            foreach (dynamic file in group.Files) seen.Add(group.Name + " " + file.Name);
        return new List<object> { seen, errors.Cast<object>().ToList() };
    }

    public static object Script() {
        dynamic database = Server().Databases["OLTP"];
        database.ExecuteNonQuery("DROP TABLE IF EXISTS dbo.clients_smo; CREATE TABLE dbo.clients_smo (id int IDENTITY NOT NULL CONSTRAINT pk_smo "
            + "PRIMARY KEY, word nvarchar(20) NULL, price decimal(9,2) NOT NULL CONSTRAINT df_smo DEFAULT 1); CREATE INDEX ix_smo ON "
            + "dbo.clients_smo (word) INCLUDE (price)");
        dynamic table = database.Tables["clients_smo", "dbo"];
        dynamic options = New("Smo", "Smo.ScriptingOptions");
        options.DriAll = true;
        options.Indexes = true;
        var lines = new List<string>();
        foreach (string line in table.Script(options)) lines.Add(line);
        table.Drop();
        foreach (string line in lines) database.ExecuteNonQuery(line);
        database.Tables.Refresh();
        bool again = database.Tables["clients_smo", "dbo"] != null;
        database.ExecuteNonQuery("DROP TABLE dbo.clients_smo");
        return new List<object> { again, string.Join(" ", lines) };
    }
}
